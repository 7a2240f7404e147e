//! Escape sequences that change how a text is read: of terminals, of string literals, of URLs, of HTML and of
//! quoted-printable mail.

mod soft_breaks;

pub(super) use soft_breaks::is_mail;

/// Maximum length of a control sequence of a terminal in bytes.
const CONTROL_MAX: usize = 64;
/// Maximum length of an operating system command of a terminal in bytes, such as a hyperlink.
const COMMAND_MAX: usize = 2_048;
/// Number of bytes that are tested for escapes at once.
const CHUNK: usize = 64;
/// Length of a chunk with the bytes that the test of its last byte reads.
const CHUNK_READ: usize = CHUNK + 3;

/// An escape sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Escape {
    /// Length in bytes.
    pub(super) length: usize,
    /// Decoded character; `None` if the escape is invisible.
    pub(super) read_as: Option<char>,
    /// True for escapes that are added last, such as terminal sequences and soft line breaks. They may split other
    /// escapes.
    pub(super) is_outer: bool,
}

/// Finds the first escape from `from` on.
///
/// `mail` is true if the text is known to be mail, whose lines go on after a `=`.
pub(super) fn next(bytes: &[u8], from: usize, mail: bool) -> Option<(usize, Escape)> {
    let mut at = from;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<CHUNK_READ>) {
            if has_escape(chunk) {
                break;
            }
            at += CHUNK;
        }
        if at >= bytes.len() {
            return None;
        }
        let end = (at + CHUNK).min(bytes.len());
        while at < end {
            if BEGINS[usize::from(bytes[at])]
                && let Some(escape) = escape_at(bytes, at, mail)
            {
                return Some((at, escape));
            }
            at += 1;
        }
    }
}

/// Finds the first escape from `from` on that begins within `reach` bytes.
pub(super) fn next_within(
    bytes: &[u8],
    from: usize,
    reach: usize,
    mail: bool,
) -> Option<(usize, Escape)> {
    // An escape that begins before the limit may end after it.
    let until = bytes.len().min(from + reach);
    let mut at = from;
    while at < until {
        if BEGINS[usize::from(bytes[at])]
            && let Some(escape) = escape_at(bytes, at, mail)
        {
            return Some((at, escape));
        }
        at += 1;
    }
    None
}

/// Returns true if an escape may begin in a chunk. It has no branch for each byte, so that the compiler can vectorise
/// it.
#[inline(always)]
fn has_escape(chunk: &[u8; CHUNK_READ]) -> bool {
    let mut found = 0;
    for n in 0..CHUNK {
        let [a, b, c, d] = [chunk[n], chunk[n + 1], chunk[n + 2], chunk[n + 3]];
        let always = (a == 0x1b) | (a == b'\\') | (a == b'%') | (a == b'&') | (a >= 0x80);
        let two = (b == b'2') & ((c == b'0') | (c == b'2') | (c == b'7'));
        let blank = (b == b'0') & ((c == b'A') | (c == b'D') | (c == b'9'));
        let broken = (a == b'=') & ((b < 0x0e) | (b == b'3') | two | blank);
        let colour = (c == b'm') | (c == b';') | (d == b'm') | (d == b';');
        found |= u8::from(always | broken | ((a == b'[') & colour));
    }
    found != 0
}

/// First bytes of escapes.
static BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let all = b"\x1b\\%&=[^\xc2\xe2\xef";
    let mut at = 0;
    while at < all.len() {
        begins[all[at] as usize] = true;
        at += 1;
    }
    begins
};

/// Reads the escape that begins at `at`.
fn escape_at(bytes: &[u8], at: usize, mail: bool) -> Option<Escape> {
    let rest = bytes.get(at..)?;
    let first = *rest.first()?;
    let (length, read_as) = match first {
        0x1b => (control(rest), None),
        b'\\' => backslash(bytes, at)?,
        b'%' => percent(rest)?,
        b'&' => entity(rest)?,
        b'=' => quoted_printable(bytes, at, mail)?,
        b'[' => (colour(rest)?, None),
        b'^' if rest.get(1..3) == Some(b"[[") => (2 + sequence(&rest[2..])?, None),
        b'^' => return None,
        _ => (invisible(rest)?, None),
    };
    // An escaped escape character, with its control sequence.
    let sequence = match (read_as, rest.get(length)) {
        (Some('\x1b'), Some(b'[')) => sequence(&rest[length..]),
        _ => None,
    };
    if let Some(more) = sequence {
        return Some(Escape {
            length: length + more,
            read_as: None,
            is_outer: false,
        });
    }
    Some(Escape {
        length,
        read_as,
        is_outer: read_as.is_none() && first != b'&',
    })
}

/// Returns the length of a terminal command, including its escape character.
fn control(rest: &[u8]) -> usize {
    let body = &rest[1..];
    match body.first() {
        Some(b'[') => 1 + sequence(body).unwrap_or(0),
        Some(b']') => 1 + command(body),
        Some(b'(' | b')' | b'#' | b'*' | b'+') => rest.len().min(3),
        // A letter or a digit may be the first character of a word.
        _ => 1,
    }
}

/// Returns the length of `[`, parameters and a final letter.
fn sequence(body: &[u8]) -> Option<usize> {
    let parameters = body
        .get(1..)?
        .iter()
        .take(CONTROL_MAX)
        .take_while(|b| (0x20..=0x3f).contains(*b))
        .count();
    let last = body.get(1 + parameters)?;
    // Other final characters are rare, and may be part of a line break.
    (last.is_ascii_alphabetic() || *last == b'~').then_some(parameters + 2)
}

/// Returns the length of `]` and everything up to the end of the command; 1 if it has no end.
fn command(body: &[u8]) -> usize {
    let known = &body[..body.len().min(COMMAND_MAX)];
    match memchr::memchr3(0x07, 0x1b, b'\n', known) {
        Some(end) if known[end] == 0x07 => end + 1,
        Some(end) if known[end] == 0x1b && known.get(end + 1) == Some(&b'\\') => end + 2,
        _ => 1,
    }
}

/// Returns the length of a colour whose escape character was lost: `[31m`, `[1;31m`.
fn colour(rest: &[u8]) -> Option<usize> {
    let digits = rest[1..]
        .iter()
        .take(16)
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    (digits > 0 && rest.get(1 + digits) == Some(&b'm')).then_some(digits + 2)
}

fn backslash(bytes: &[u8], at: usize) -> Option<(usize, Option<char>)> {
    let rest = &bytes[at..];
    let simple = |c: char| Some((2, Some(c)));
    match *rest.get(1)? {
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'f' => simple('\x0c'),
        b'v' => simple('\x0b'),
        b'b' => simple('\x08'),
        b'a' => simple('\x07'),
        b'e' | b'E' => simple('\x1b'),
        b'x' => short(hex(rest, 2, 2)?, 4),
        b'u' if rest.get(2) == Some(&b'{') => {
            let digits = rest[3..]
                .iter()
                .take(6)
                .take_while(|b| b.is_ascii_hexdigit());
            let digits = digits.count();
            let closed = digits > 0 && rest.get(3 + digits) == Some(&b'}');
            let read = char::from_u32(hex(rest, 3, digits)?)?;
            closed.then_some((digits + 4, Some(read)))
        }
        b'u' => Some((6, Some(char::from_u32(hex(rest, 2, 4)?)?))),
        b'U' => Some((10, Some(char::from_u32(hex(rest, 2, 8)?)?))),
        b'0'..=b'7' => octal(rest),
        // A soft line break splits the backslash and its character.
        b'=' if matches!(rest.get(2), Some(b'\n' | b'\r')) => None,
        b'\n' => Some((continued(bytes, at, 2), None)),
        b'\r' if rest.get(2) == Some(&b'\n') => Some((continued(bytes, at, 3), None)),
        mark if mark.is_ascii_punctuation() => simple(char::from(mark)),
        _ => None,
    }
}

/// Returns the length of a line continuation. After a word it includes the indentation of the next line, as in the
/// strings of many languages.
fn continued(bytes: &[u8], at: usize, length: usize) -> usize {
    if at == 0 || bytes[at - 1].is_ascii_whitespace() {
        return length;
    }
    let indent = bytes[at + length..]
        .iter()
        .take(CONTROL_MAX)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    length + indent
}

/// Decodes `\033`. Fewer digits are a group of a regular expression.
fn octal(rest: &[u8]) -> Option<(usize, Option<char>)> {
    let mut value = 0;
    for &digit in rest.get(1..4)? {
        value = value * 8 + char::from(digit).to_digit(8)?;
    }
    short(value, 4)
}

/// Decodes `%3D` and `%u003d`.
fn percent(rest: &[u8]) -> Option<(usize, Option<char>)> {
    if rest.get(1) == Some(&b'u') {
        return short(hex(rest, 2, 4)?, 6);
    }
    let first = hex(rest, 1, 2)?;
    if first < 0x80 {
        return short(first, 3);
    }
    // A character of several bytes.
    let count = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let mut bytes = [0; 4];
    for (n, byte) in bytes[..count].iter_mut().enumerate() {
        let signed = rest.get(3 * n) == Some(&b'%');
        *byte = u8::try_from(hex(rest, 3 * n + 1, 2).filter(|_| signed)?).ok()?;
    }
    let read = std::str::from_utf8(&bytes[..count]).ok()?.chars().next()?;
    Some((3 * count, Some(read)))
}

/// Decodes `=` at the end of a line of mail, and characters such as `=3D`.
fn quoted_printable(bytes: &[u8], at: usize, mail: bool) -> Option<(usize, Option<char>)> {
    let rest = &bytes[at..];
    if !matches!(rest.get(1), Some(b'0' | b'2' | b'3' | b'\n' | b'\r')) {
        return None;
    }
    let encoded = [
        (&b"=3D"[..], '='),
        (b"=20", ' '),
        (b"=22", '"'),
        (b"=27", '\''),
        (b"=3A", ':'),
        (b"=0A", '\n'),
        (b"=0D", '\r'),
        (b"=09", '\t'),
    ];
    if let Some((_, read)) = encoded.iter().find(|(code, _)| rest.starts_with(code)) {
        // Values such as `status=200` are no codes.
        let is_code = *read == '=' || rest.get(3).is_some_and(u8::is_ascii_alphabetic);
        return is_code.then_some((3, Some(*read)));
    }
    let length = if rest.starts_with(b"=\n") { 2 } else { 3 };
    let is_break = length == 2 || rest.starts_with(b"=\r\n");
    (is_break && soft_breaks::is_soft(bytes, at, length, mail)).then_some((length, None))
}

/// Decodes `&quot;`, `&#34;` and `&#x22;`.
fn entity(rest: &[u8]) -> Option<(usize, Option<char>)> {
    if rest.get(1) == Some(&b'#') {
        let hexadecimal = matches!(rest.get(2), Some(b'x' | b'X'));
        let start = if hexadecimal { 3 } else { 2 };
        let digit = |b: &&u8| b.is_ascii_digit() || (hexadecimal && b.is_ascii_hexdigit());
        let digits = rest.get(start..)?.iter().take(7).take_while(digit).count();
        let text = std::str::from_utf8(&rest[start..start + digits]).ok()?;
        let value = u32::from_str_radix(text, if hexadecimal { 16 } else { 10 }).ok()?;
        let end = start + digits;
        let read = char::from_u32(value).filter(|_| rest.get(end) == Some(&b';'))?;
        return Some((end + 1, (read != '\u{ad}').then_some(read)));
    }
    let name = rest[1..]
        .iter()
        .take(8)
        .take_while(|b| b.is_ascii_alphabetic())
        .count();
    if rest.get(1 + name) != Some(&b';') {
        return None;
    }
    let text = &rest[1..1 + name];
    let (_, read) = ENTITIES.iter().find(|(name, _)| name.as_bytes() == text)?;
    Some((name + 2, *read))
}

/// HTML entities of characters that matter for redaction.
const ENTITIES: &[(&str, Option<char>)] = &[
    ("quot", Some('"')),
    ("apos", Some('\'')),
    ("amp", Some('&')),
    ("lt", Some('<')),
    ("gt", Some('>')),
    ("nbsp", Some(' ')),
    ("equals", Some('=')),
    ("colon", Some(':')),
    ("semi", Some(';')),
    ("comma", Some(',')),
    ("period", Some('.')),
    ("lowbar", Some('_')),
    ("UnderBar", Some('_')),
    ("hyphen", Some('-')),
    ("dash", Some('-')),
    ("plus", Some('+')),
    ("sol", Some('/')),
    ("bsol", Some('\\')),
    ("num", Some('#')),
    ("percnt", Some('%')),
    ("dollar", Some('$')),
    ("commat", Some('@')),
    ("excl", Some('!')),
    ("quest", Some('?')),
    ("ast", Some('*')),
    ("lpar", Some('(')),
    ("rpar", Some(')')),
    ("lsqb", Some('[')),
    ("lbrack", Some('[')),
    ("rsqb", Some(']')),
    ("rbrack", Some(']')),
    ("lcub", Some('{')),
    ("lbrace", Some('{')),
    ("rcub", Some('}')),
    ("rbrace", Some('}')),
    ("verbar", Some('|')),
    ("vert", Some('|')),
    ("grave", Some('`')),
    ("Hat", Some('^')),
    ("tilde", Some('~')),
    ("Tab", Some('\t')),
    ("NewLine", Some('\n')),
    ("shy", None),
    ("zwnj", None),
    ("zwj", None),
];

/// Returns the length of an invisible character, or of a colour after a visible substitute of the escape character.
fn invisible(rest: &[u8]) -> Option<usize> {
    match *rest {
        [0xc2, 0x9b, ..] => Some(1 + sequence(&rest[1..])?),
        [0xc2, 0xad, ..] => Some(2),
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] => Some(3),
        [0xe2, 0x81, 0xa0..=0xa4, ..] => Some(3),
        [0xef, 0xbb, 0xbf, ..] => Some(3),
        [0xe2, 0x90, 0x9b, b'[', ..] | [0xef, 0xbf, 0xbd, b'[', ..] => {
            Some(3 + colour(&rest[3..])?)
        }
        _ => None,
    }
}

/// Returns an escape of this length with an ASCII value.
fn short(value: u32, length: usize) -> Option<(usize, Option<char>)> {
    let read = char::from_u32(value).filter(char::is_ascii)?;
    Some((length, Some(read)))
}

/// Returns the value of exactly `count` hexadecimal digits.
fn hex(rest: &[u8], from: usize, count: usize) -> Option<u32> {
    let digits = rest.get(from..from + count)?;
    let mut value = 0;
    for &digit in digits {
        value = value * 16 + char::from(digit).to_digit(16)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests;

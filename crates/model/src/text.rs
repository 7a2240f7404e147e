//! Small pure operations on text: normal forms, excerpts, hashes, token estimates.

use crate::limits::CHARS_PER_TOKEN;
use unicode_segmentation::UnicodeSegmentation;

/// The number of characters (Unicode scalar values).
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The estimated length in tokens: four characters a token, rounded up.
pub fn tokens(text: &str) -> usize {
    chars(text).div_ceil(CHARS_PER_TOKEN)
}

/// The first `chars_max` characters at most, whole graphemes, never more.
pub fn clip(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    let head = &text.as_bytes()[..=chars_max];
    // Between two ASCII characters a grapheme always ends, but for CR LF.
    if head.is_ascii() && !head.ends_with(b"\r\n") {
        return &text[..chars_max];
    }
    let (mut used, mut end) = (0, 0);
    for grapheme in text.graphemes(true) {
        used += grapheme.chars().count();
        if used > chars_max {
            return &text[..end];
        }
        end += grapheme.len();
    }
    text
}

/// The last `chars_max` characters at most, whole graphemes, never more.
pub fn clip_start(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    let (mut used, mut start) = (0, text.len());
    for grapheme in text.graphemes(true).rev() {
        used += grapheme.chars().count();
        if used > chars_max {
            return &text[start..];
        }
        start -= grapheme.len();
    }
    text
}

/// One printable line of at most `chars_max` characters, with `…` where something is left out.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let line = one_line(text);
    if chars(&line) <= chars_max {
        return line;
    }
    match chars_max.checked_sub(1) {
        Some(rest) => format!("{}…", clip(&line, rest)),
        None => String::new(),
    }
}

/// The text on one line: line breaks become ` | `, other control characters and runs of blanks one space.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = "";
    for c in text.chars() {
        if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}') {
            gap = " | ";
        } else if c == '\t' || (c.is_whitespace() && !c.is_control()) {
            gap = if gap.is_empty() { " " } else { gap };
        } else {
            if !out.is_empty() {
                out.push_str(gap);
            }
            gap = "";
            out.push(harmless(c));
        }
    }
    out
}

/// Whether [`one_line`] would leave the text as it is; reads it once and allocates nothing.
pub fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.starts_with(b" ") || bytes.ends_with(b" ") {
        return false;
    }
    // Two folds without an early exit: the compiler makes them vector code, and most text passes.
    let printable = |ok, byte: &u8| ok & (b' '..=b'~').contains(byte);
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let spaced = |found, (a, b): (&u8, &u8)| found | ((*a == b' ') & (*b == b' '));
    if pairs.fold(false, spaced) {
        return false;
    }
    let odd = |c: char| c != ' ' && (c.is_whitespace() || harmless(c) != c);
    bytes.iter().fold(true, printable) || !text.contains(odd)
}

/// The text with control characters other than line feed and tab made harmless.
///
/// Escape sequences lose their escape, so that stored text never reaches a terminal raw.
pub fn printable(text: &str) -> String {
    let keep = |c| matches!(c, '\n' | '\t');
    text.chars()
        .map(|c| if keep(c) { c } else { harmless(c) })
        .collect()
}

/// Whether the character neither steers a terminal nor hides text.
pub fn is_harmless(c: char) -> bool {
    harmless(c) == c
}

/// The character, or `\u{fffd}` for one that steers a terminal or hides text.
fn harmless(c: char) -> char {
    if c.is_control() || is_bidi_control(c) {
        '\u{fffd}'
    } else {
        c
    }
}

/// Characters that reorder or hide what a person sees.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text without case, spacing and end punctuation: how steps are told apart, and what a search contains.
///
/// Of knowledge [`crate::likeness::words`] is the form, which knows more punctuation and what must not differ.
pub fn normal(text: &str) -> String {
    let folded = text.to_lowercase();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .trim_end_matches(['.', '!', '?', ',', ';', ':', '…', ' '])
        .to_owned()
}

/// Sixteen hex digits that identify `text` (BLAKE3, first 64 bits).
pub fn hash16(text: &str) -> String {
    let mut hex = blake3::hash(text.as_bytes()).to_hex().to_string();
    hex.truncate(16);
    hex
}

/// Sixteen hex digits that identify the list of parts; no two lists share a joined form.
pub fn hash_parts(parts: &[&str]) -> String {
    let mut joined = String::new();
    for part in parts {
        joined.push_str(&format!("{}:{part}", part.len()));
    }
    hash16(&joined)
}

/// What stays the same when an error happens again: the text without addresses, numbers and spacing.
///
/// Terminal colours are dropped, runs of digits and hexadecimal addresses become `#`, case is folded.
pub fn signature(text: &str) -> String {
    let lower = strip_ansi(text).to_lowercase();
    let mut out = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        push_masked(&mut out, word);
    }
    out.trim_end_matches(['.', '!', ',', ';', ':']).to_owned()
}

fn push_masked(out: &mut String, word: &str) {
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        out.push('#');
        let hex = rest[start..].strip_prefix("0x");
        let tail = hex.unwrap_or(&rest[start..]);
        let is_part = |c: char| {
            if hex.is_some() {
                c.is_ascii_hexdigit()
            } else {
                c.is_ascii_digit()
            }
        };
        rest = tail.trim_start_matches(is_part);
    }
    out.push_str(rest);
}

/// The text without ANSI escape sequences (CSI, OSC and other strings, character sets, two-byte forms).
///
/// An unfinished sequence ends at the next escape or line break, so it never hides a later line.
pub fn strip_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        out.push_str(&rest[..start]);
        rest = after_escape(&rest[start + 1..]);
    }
    out.push_str(rest);
    out
}

/// What follows the escape sequence whose first byte, the escape, is already taken off.
fn after_escape(rest: &str) -> &str {
    let Some(first) = rest.chars().next() else {
        return rest;
    };
    match first {
        '[' => {
            let rest = rest[1..].trim_start_matches(|c| matches!(c, ' '..='?'));
            rest.strip_prefix(|c| matches!(c, '@'..='~'))
                .unwrap_or(rest)
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let ends = |c| matches!(c, '\u{7}' | '\u{1b}' | '\n');
            let rest = rest.find(ends).map_or("", |end| &rest[end..]);
            let rest = rest.strip_prefix('\u{7}').unwrap_or(rest);
            rest.strip_prefix("\u{1b}\\").unwrap_or(rest)
        }
        ' '..='/' => {
            let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
            rest.strip_prefix(|c| matches!(c, '0'..='~'))
                .unwrap_or(rest)
        }
        '0'..='~' => &rest[1..],
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clip_keeps_whole_graphemes() {
        let family = "👨‍👩‍👧";
        assert_eq!(clip(&format!("a{family}b"), 3), "a");
        assert_eq!(clip_start(&format!("a{family}b"), 3), "b");
        assert_eq!(clip("héllo", 2), "hé");
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abc", 0), "");
        assert_eq!(clip("a\r\nb", 2), "a");
        assert_eq!(clip("ae\u{301}", 2), "a");
    }

    #[test]
    fn a_token_counts_as_so_many_characters() {
        for (count, expected) in [
            (0, 0),
            (1, 1),
            (CHARS_PER_TOKEN, 1),
            (CHARS_PER_TOKEN + 1, 2),
        ] {
            assert_eq!(tokens(&"é".repeat(count)), expected);
        }
    }

    #[test]
    fn normal_ignores_case_spacing_and_end_punctuation() {
        assert_eq!(normal("  Run  the\tTests. "), normal("run the tests"));
        assert_ne!(normal("use port 80"), normal("use port 81"));
        assert_ne!(normal("do use it"), normal("do not use it"));
    }

    #[test]
    fn one_line_cannot_forge_a_line() {
        assert_eq!(
            one_line("a\r\n## b\n\n  c\u{1b}[31m"),
            "a | ## b | c\u{fffd}[31m"
        );
        assert_eq!(one_line("\n\n"), "");
    }

    #[test]
    fn one_line_knows_its_own_work() {
        for text in [
            "",
            " ",
            "a b",
            "a  b",
            "a ",
            " a",
            "a\tb",
            "a\u{a0}b",
            "é\u{2028}b",
            "a\u{200f}",
            "\u{7f}",
            "é ü",
            "a\n",
        ] {
            assert_eq!(is_one_line(text), one_line(text) == text, "{text:?}");
            assert!(is_one_line(&one_line(text)), "{text:?}");
        }
    }

    #[test]
    fn signature_survives_numbers_and_addresses() {
        assert_eq!(
            signature("\u{1b}[31mpanic\u{1b}[0m at 0x7ffe12 line 42:7."),
            signature("Panic at 0xdead99  line 43:11")
        );
        assert_ne!(signature("cannot open a.rs"), signature("cannot open b.rs"));
    }

    #[test]
    fn hash_parts_tells_lists_apart() {
        assert_ne!(hash_parts(&["ab", "c"]), hash_parts(&["a", "bc"]));
        assert_eq!(hash_parts(&["ab"]).len(), 16);
    }

    proptest::proptest! {
        #[test]
        fn any_text_goes_on_one_line(text in "([a-b]|[ \t\n]|\\PC|\\pC|\\pZ){0,12}", max in 0..12_usize) {
            let line = one_line(&text);
            assert!(is_one_line(&line));
            assert_eq!(is_one_line(&text), line == text);
            let clipped = clip(&text, max);
            assert!(chars(clipped) <= max && text.starts_with(clipped));
            let whole: String = text.graphemes(true).take(clipped.graphemes(true).count()).collect();
            assert_eq!(whole, clipped);
        }
    }

    #[test]
    fn strip_ansi_knows_every_form_and_hides_no_later_line() {
        for (input, plain) in [
            ("a\u{1b}[1;31mb\u{1b}[0mc", "abc"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\.", "link."),
            ("\u{1b}(B\u{1b}[mplain", "plain"),
            ("\u{1b}7\u{1b}=x", "x"),
            ("\u{1b}]0;never ended\nnext", "\nnext"),
            ("\u{1b}]0;cut\u{1b}[1mnext", "next"),
            ("\u{1b}[1;é", "é"),
            ("end\u{1b}", "end"),
            ("end\u{1b}[", "end"),
        ] {
            assert_eq!(strip_ansi(input), plain, "{input:?}");
        }
    }
}

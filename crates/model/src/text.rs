//! Small pure operations on text: normal forms, excerpts, hashes, token estimates.

mod error_identity;

pub use error_identity::{error_identity, test_names};

use crate::limits::CHARS_PER_TOKEN;
use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_segmentation::UnicodeSegmentation;

/// Returns the number of characters (Unicode scalar values).
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Estimates the length in tokens: four characters per token, rounded up.
pub fn tokens(text: &str) -> usize {
    chars(text).div_ceil(CHARS_PER_TOKEN)
}

/// Formats a share from 0 to 1 as a percentage; only 0 is `0 %`, and only 1 is `100 %`.
pub fn percent(share: f64) -> String {
    match (share * 100.0).round() {
        rounded if rounded < 1.0 && share > 0.0 => "<1 %".to_owned(),
        rounded if rounded >= 100.0 && share < 1.0 => "99 %".to_owned(),
        rounded => format!("{rounded:.0} %"),
    }
}

/// Formats a count with its noun: `1 record`, `2 records`.
pub fn counted<N: From<u8> + PartialEq + Copy + Display>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Returns at most the first `chars_max` characters, in whole graphemes.
pub fn clip(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    let head = &text.as_bytes()[..=chars_max];
    // A grapheme always ends between two ASCII characters, except CR LF.
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

/// Returns at most the last `chars_max` characters, in whole graphemes.
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

/// Returns at most the last `chars_max` characters, from the start of a line, or of a word if no line begins in the
/// first half of them.
pub fn clip_start_at_boundary(text: &str, chars_max: usize) -> &str {
    let tail = clip_start(text, chars_max);
    let before = text.strip_suffix(tail).unwrap_or_default();
    if before.is_empty() || before.ends_with('\n') {
        return tail;
    }
    let line = tail
        .split_once('\n')
        .filter(|(cut, whole)| cut.len() <= whole.len());
    if let Some((_, whole)) = line.filter(|(_, whole)| !whole.trim().is_empty()) {
        return whole;
    }
    if before.ends_with(char::is_whitespace) {
        return tail;
    }
    let word = tail
        .split_once(char::is_whitespace)
        .map(|(_, whole)| whole.trim_start());
    word.filter(|whole| !whole.is_empty()).unwrap_or(tail)
}

/// Returns one printable line of at most `chars_max` characters, with `…` if text was left out.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let line = one_line_prefix(text, chars_max);
    if chars(&line) <= chars_max {
        return line;
    }
    match chars_max.checked_sub(1) {
        Some(rest) => format!("{}…", clip(&line, rest)),
        None => String::new(),
    }
}

/// Returns one printable line of at most `chars_max` characters that ends with a whole word, and with `…` if text was left
/// out. A text without blanks near the limit, such as a long path, is cut there.
pub fn excerpt_at_word(text: &str, chars_max: usize) -> String {
    let line = one_line_prefix(text, chars_max);
    if chars(&line) <= chars_max {
        return line;
    }
    let Some(rest) = chars_max.checked_sub(1) else {
        return String::new();
    };
    let head = clip(&line, rest);
    let is_whole = line[head.len()..].starts_with(char::is_whitespace);
    let kept = match head.rfind(char::is_whitespace) {
        Some(at) if !is_whole && chars(&head[at..]) <= chars_max / 2 => &head[..at],
        Some(_) | None => head,
    };
    format!("{}…", kept.trim_end())
}

/// Puts the text on one line: line breaks become ` | `, other control characters and runs of blanks one space.
pub fn one_line(text: &str) -> String {
    one_line_prefix(text, usize::MAX)
}

/// Puts the beginning of a text on one line, up to the first character beyond `chars_max`, so that an excerpt of a long
/// text does not read all of it.
fn one_line_prefix(text: &str, chars_max: usize) -> String {
    let head = &text.as_bytes()[..text.len().min(chars_max.saturating_add(1))];
    if head.is_ascii() && is_one_line(&text[..head.len()]) {
        return text[..head.len()].to_owned();
    }
    let mut out = String::with_capacity(text.len().min(chars_max.saturating_mul(2)));
    let (mut gap, mut count) = ("", 0_usize);
    for c in text.chars() {
        if count > chars_max {
            break;
        }
        if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}') {
            gap = " | ";
        } else if c == '\t' || (c.is_whitespace() && !c.is_control()) {
            gap = if gap.is_empty() { " " } else { gap };
        } else {
            if !out.is_empty() {
                out.push_str(gap);
                count += gap.len();
            }
            gap = "";
            out.push(replace_unsafe_char(c));
            count += 1;
        }
    }
    out
}

/// Returns true if [`one_line`] would not change the text; allocates nothing.
pub fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.starts_with(b" ") || bytes.ends_with(b" ") {
        return false;
    }
    // Two folds without an early exit, because the compiler vectorises them and most texts pass.
    let printable = |ok, byte: &u8| ok & (b' '..=b'~').contains(byte);
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let spaced = |found, (a, b): (&u8, &u8)| found | ((*a == b' ') & (*b == b' '));
    if pairs.fold(false, spaced) {
        return false;
    }
    let odd = |c: char| c != ' ' && (c.is_whitespace() || replace_unsafe_char(c) != c);
    bytes.iter().fold(true, printable) || !text.contains(odd)
}

/// Replaces control characters other than line feed and tab.
///
/// Escape sequences lose their escape, so that stored text never reaches a terminal raw.
pub fn replace_control_chars(text: &str) -> String {
    let is_plain = |all, byte: &u8| all & (matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if text.as_bytes().iter().fold(true, is_plain) {
        return text.to_owned();
    }
    let keep = |c| matches!(c, '\n' | '\t');
    text.chars()
        .map(|c| if keep(c) { c } else { replace_unsafe_char(c) })
        .collect()
}

/// Escaping of paths in messages.
pub trait EscapedPath {
    /// Returns the path for messages: on one line, with control and bidirectional characters escaped.
    ///
    /// A line break in a name could otherwise forge a line of our output or a signal.
    fn to_escaped(&self) -> String;
}

impl EscapedPath for Path {
    fn to_escaped(&self) -> String {
        escape_name(&self.to_string_lossy()).into_owned()
    }
}

/// Returns an untrusted name on one line, with control and bidirectional characters escaped.
pub fn escape_name(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| is_safe_to_display(c) && !matches!(c, '\u{2028}' | '\u{2029}');
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        match is_plain(c) {
            true => out.push(c),
            false => out.extend(c.escape_default()),
        }
    }
    Cow::Owned(out)
}

/// Returns true if the character neither controls a terminal nor hides text.
pub fn is_safe_to_display(c: char) -> bool {
    replace_unsafe_char(c) == c
}

/// Returns the character, or `\u{fffd}` for one that controls a terminal or hides text.
fn replace_unsafe_char(c: char) -> char {
    if c.is_control() || is_bidi_control(c) {
        '\u{fffd}'
    } else {
        c
    }
}

/// Returns true for characters that reorder or hide visible text.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Composes the characters of a text (NFC), so that two forms of one word, as macOS and Linux write them, are equal.
pub fn to_composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_nfc(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfc().collect()),
    }
}

/// Normalises characters, case, spacing and end punctuation, for the identity of steps and for substring search.
///
/// Knowledge uses [`crate::similarity::words`], which handles more punctuation and preserves significant characters.
pub fn normalize(text: &str) -> String {
    let folded = to_composed(text).to_lowercase();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .trim_end_matches(['.', '!', '?', ',', ';', ':', '…', ' '])
        .to_owned()
}

/// Hashes a text to sixteen hex digits (BLAKE3, first 64 bits).
pub fn hash16(text: &str) -> String {
    let mut hex = blake3::hash(text.as_bytes()).to_hex().to_string();
    hex.truncate(16);
    hex
}

/// Hashes a list of parts to sixteen hex digits; the joined form is unambiguous.
pub fn hash_parts(parts: &[&str]) -> String {
    let mut joined = String::new();
    for part in parts {
        joined.push_str(&format!("{}:{part}", part.len()));
    }
    hash16(&joined)
}

/// Removes ANSI escape sequences (CSI, OSC and other strings, character sets, two-byte forms).
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

/// Skips the escape sequence whose first byte, the escape, was already removed.
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
mod tests;

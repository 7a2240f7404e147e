//! Small pure operations on text: normal forms, excerpts, hashes, token estimates.

use crate::limits::CHARS_PER_TOKEN;
use std::borrow::Cow;
use std::path::Path;
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

/// Puts the text on one line: line breaks become ` | `, other control characters and runs of blanks one space.
pub fn one_line(text: &str) -> String {
    one_line_prefix(text, usize::MAX)
}

/// Puts the beginning of a text on one line, up to the first character beyond `chars_max`, so that an excerpt of a long
/// text does not read all of it.
fn one_line_prefix(text: &str, chars_max: usize) -> String {
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

/// Normalises case, spacing and end punctuation, for the identity of steps and for substring search.
///
/// Knowledge uses [`crate::similarity::words`], which handles more punctuation and preserves significant characters.
pub fn normalize(text: &str) -> String {
    let folded = text.to_lowercase();
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

/// Returns the error signature: the text without addresses, numbers and spacing.
///
/// Terminal colours are removed, runs of digits and hexadecimal addresses become `#`, case is folded.
pub fn error_signature(text: &str) -> String {
    mask_numbers(text, NumberMask::All)
}

/// Returns the identity of an error: as [`error_signature`], but digits that are part of a name, as in `test_1` and
/// `E0502`, or that name a test, as in `test-1`, `test_add[2]` and `test 1`, stay.
pub fn error_identity(text: &str) -> String {
    mask_numbers(text, NumberMask::OutsideOfNamesAndTests)
}

/// Returns the identity of an error as earlier versions derived it, which masked digits of a test's name after a hyphen
/// or a blank.
pub(crate) fn earlier_error_identity(text: &str) -> String {
    mask_numbers(text, NumberMask::OutsideOfNames)
}

/// Returns the names of tests in an error, without the files that contain them; paths and line numbers are no names.
pub fn test_names(text: &str) -> Vec<String> {
    let plain = strip_ansi(text);
    let mut names = Vec::new();
    let mut before = String::new();
    for word in plain.split_whitespace() {
        let mut masked = String::new();
        let lower = word.to_lowercase();
        push_masked_word(&mut masked, &lower, NumberMask::OutsideOfNamesAndTests);
        if is_number_of_test(&before, &lower) {
            names.push(lower.clone());
        } else if is_test_word(&masked) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != ']');
            let last = bare.rsplit("::").next().unwrap_or(bare);
            let is_file = last.contains(['/', '.']);
            let is_camel =
                last.contains(char::is_lowercase) && last.chars().skip(1).any(char::is_uppercase);
            let is_noun = last.chars().all(char::is_alphabetic) && !is_camel;
            if is_test_word(&last.to_lowercase()) && !is_file && !is_noun {
                names.push(last.to_lowercase());
            }
        }
        before = lower;
    }
    names
}

/// Numbers that are masked in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberMask {
    All,
    OutsideOfNames,
    OutsideOfNamesAndTests,
}

fn mask_numbers(text: &str, mask: NumberMask) -> String {
    let lower = strip_ansi(text).to_lowercase();
    let mut out = String::with_capacity(lower.len());
    let mut before = "";
    for word in lower.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let names_test = mask == NumberMask::OutsideOfNamesAndTests;
        if names_test && is_number_of_test(before, word) {
            out.push_str(word);
        } else {
            push_masked_word(&mut out, word, mask);
        }
        before = word;
    }
    out.trim_end_matches(['.', '!', ',', ';', ':']).to_owned()
}

/// Returns true for the number in `test 1` and `case #2`.
fn is_number_of_test(before: &str, word: &str) -> bool {
    const NOUNS: [&str; 5] = ["test", "case", "spec", "target", "scenario"];
    let number = word.trim_matches(|c: char| !c.is_alphanumeric());
    NOUNS.contains(&before)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for a word that names a test or a target, unless it is an absolute path, which may be temporary.
fn is_test_word(word: &str) -> bool {
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/');
    !bare.starts_with('/')
        && ["test", "spec", "case", "target"]
            .iter()
            .any(|noun| word.contains(noun))
}

fn push_masked_word(out: &mut String, word: &str, mask: NumberMask) {
    let in_test = mask == NumberMask::OutsideOfNamesAndTests && is_test_word(word);
    let mut was_masked = false;
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &rest[..start];
        out.push_str(before);
        let is_name = before.ends_with(|c: char| c.is_alphabetic() || c == '_');
        // Line numbers, times and counts follow these marks; the rest of a decimal follows a masked number.
        let is_measure = before.ends_with([':', '(', '=']) || (was_masked && before == ".");
        let is_address = rest[start..].starts_with("0x");
        let stays = match mask {
            NumberMask::All => false,
            NumberMask::OutsideOfNames => is_name,
            NumberMask::OutsideOfNamesAndTests => {
                is_name || (in_test && !is_measure && !is_address)
            }
        };
        was_masked = !stays;
        if stays {
            let tail = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
            out.push_str(&rest[start..rest.len() - tail.len()]);
            rest = tail;
            continue;
        }
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
mod tests {
    use super::*;

    #[test]
    fn percent_rounds_except_to_the_ends() {
        let shown = [0.0, 0.004, 0.0107, 0.5, 0.8749, 0.999, 1.0].map(percent);
        assert_eq!(
            shown,
            ["0 %", "<1 %", "1 %", "50 %", "87 %", "99 %", "100 %"]
        );
    }

    #[test]
    fn path_with_control_characters_is_escaped() {
        for (name, shown) in [
            ("src/lib.rs", "src/lib.rs"),
            ("wörter/数.md", "wörter/数.md"),
            (
                "a\nHEIRLOOM_MEMORY: KEY_FACT x",
                "a\\nHEIRLOOM_MEMORY: KEY_FACT x",
            ),
            ("\u{1b}[31m\t\r", "\\u{1b}[31m\\t\\r"),
            ("\u{202e}\u{2028}\u{9b}", "\\u{202e}\\u{2028}\\u{9b}"),
        ] {
            assert_eq!(escape_name(name), shown);
            assert_eq!(Path::new(name).to_escaped(), shown);
        }
    }

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
    fn tokens_round_up_characters() {
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
    fn normalize_ignores_case_spacing_and_end_punctuation() {
        assert_eq!(normalize("  Run  the\tTests. "), normalize("run the tests"));
        assert_ne!(normalize("use port 80"), normalize("use port 81"));
        assert_ne!(normalize("do use it"), normalize("do not use it"));
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
    fn is_one_line_agrees_with_one_line() {
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
    fn error_signature_ignores_numbers_and_addresses() {
        assert_eq!(
            error_signature("\u{1b}[31mpanic\u{1b}[0m at 0x7ffe12 line 42:7."),
            error_signature("Panic at 0xdead99  line 43:11")
        );
        assert_ne!(
            error_signature("cannot open a.rs"),
            error_signature("cannot open b.rs")
        );
    }

    #[test]
    fn error_identity_keeps_digits_of_names_only() {
        for (one, other, is_same) in [
            ("test_1 failed: refused", "test_2 failed: refused", false),
            ("error E0502 here", "error E0499 here", false),
            (
                "panic at 0x7ffe12 line 42:7",
                "Panic at 0xdead99 line 43:11.",
                true,
            ),
            (
                "test_1 failed after 30 ms",
                "TEST_1 failed after 31 ms",
                true,
            ),
            ("took 3s", "took 4s", true),
            ("test-1 failed", "test-2 failed", false),
            ("test 1 failed", "test 2 failed", false),
            ("case #1: refused", "case #2: refused", false),
            ("test_add[1-2] failed", "test_add[3-4] failed", false),
            ("TestAdd/2 failed (0.01s)", "TestAdd/2 failed (0.34s)", true),
            ("TestAdd/2(0.01s) failed", "TestAdd/2(0.34s) failed", true),
            ("a_test.go:14 is wrong", "a_test.go:15 is wrong", true),
            ("make: target-1 failed", "make: target-2 failed", false),
            ("3 tests failed in 4 s", "4 tests failed in 5 s", true),
            (
                "no file /tmp/pytest-of-x/pytest-1/out",
                "no file /tmp/pytest-of-x/pytest-2/out",
                true,
            ),
        ] {
            assert_eq!(
                error_identity(one) == error_identity(other),
                is_same,
                "{one}"
            );
        }
    }

    #[test]
    fn test_names_are_found_in_errors() {
        for (error, names) in [
            ("test_1 failed: refused", vec!["test_1"]),
            (
                "FAILED tests/test_a.py::test_x - assert 1 == 2",
                vec!["test_x"],
            ),
            ("test 3 failed after 4 s", vec!["3"]),
            (
                "`cargo test` failed: left != right (cart::tests::test_add)",
                vec!["test_add"],
            ),
            ("cannot open src/test_a.rs:12", vec![]),
            ("3 tests failed", vec![]),
            ("the test failed", vec![]),
            ("TestTokenExpiry: got nil", vec!["testtokenexpiry"]),
            ("Testing the latest build", vec![]),
        ] {
            assert_eq!(test_names(error), names, "{error}");
        }
    }

    #[test]
    fn earlier_error_identity_is_unchanged() {
        for (error, identity) in [
            ("test_1 failed after 30 ms", "test_1 failed after # ms"),
            ("test-1 failed", "test-# failed"),
            ("test 1 failed", "test # failed"),
            ("E0502 at 0x7ffe12 line 42:7.", "e0502 at # line #:#"),
        ] {
            assert_eq!(earlier_error_identity(error), identity);
        }
    }

    #[test]
    fn hash_parts_differs_for_different_lists() {
        assert_ne!(hash_parts(&["ab", "c"]), hash_parts(&["a", "bc"]));
        assert_eq!(hash_parts(&["ab"]).len(), 16);
    }

    proptest::proptest! {
        #[test]
        fn one_line_handles_any_text(text in "([a-b]|[ \t\n]|\\PC|\\pC|\\pZ){0,12}", max in 0..12_usize) {
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
    fn strip_ansi_removes_all_forms_and_keeps_later_lines() {
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

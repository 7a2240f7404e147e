//! Stored text made fit for one line of a prompt.

use heirloom_model::text;
use std::borrow::Cow;

/// Most marks and blanks between a prefix and its colon for which a signal is still expected.
const MARKS_MAX: usize = 16;

/// Puts texts on one line and disarms the signals in them.
pub(super) struct Cleaner<'p> {
    prefixes: Vec<&'p str>,
}

impl<'p> Cleaner<'p> {
    /// A cleaner that disarms signals of these prefixes.
    pub(super) fn new(prefixes: &'p [String]) -> Self {
        let words = prefixes
            .iter()
            .map(|prefix| prefix.trim().trim_end_matches(':').trim_end());
        Self {
            prefixes: words.filter(|prefix| !prefix.is_empty()).collect(),
        }
    }

    /// The text on one line, without control characters, its signals disarmed; often as it was.
    pub(super) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let line = if text::is_one_line(text) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text::one_line(&text::strip_ansi(text)))
        };
        let armed = memchr::memchr_iter(b':', line.as_bytes()).any(|at| self.is_armed(&line[..at]));
        if armed {
            Cow::Owned(self.disarmed(&line))
        } else {
            line
        }
    }

    /// The text line by line, its blanks kept; a signal is disarmed in the line that it stands in.
    pub(super) fn lines(&self, text: &str) -> String {
        let text = text::printable(
            &text::strip_ansi(text)
                .replace("\r\n", "\n")
                .replace('\r', "\n"),
        );
        let mut out = String::with_capacity(text.len());
        for whole in text.split_inclusive('\n') {
            let line = whole.trim_end_matches('\n');
            let armed =
                memchr::memchr_iter(b':', line.as_bytes()).any(|at| self.is_armed(&line[..at]));
            if armed {
                let words = line.trim_start();
                out.push_str(&line[..line.len() - words.len()]);
                out.push_str(&self.disarmed(words));
                out.push_str(&whole[line.len()..]);
            } else {
                out.push_str(whole);
            }
        }
        out
    }

    /// The text as a block, an empty line above it; empty if nothing is left.
    pub(super) fn block(&self, said: &str) -> String {
        let lines = self.lines(said);
        match lines.trim_end() {
            "" => String::new(),
            _ if lines.ends_with('\n') => format!("\n{lines}"),
            _ => format!("\n{lines}\n"),
        }
    }

    /// The text as an item of a list: its first line behind a dash, the others indented, so that none of them
    /// begins a heading; empty if nothing is left.
    pub(super) fn item(&self, said: &str) -> String {
        if !said.trim().contains('\n') {
            let line = self.clean(said.trim());
            return if line.is_empty() {
                String::new()
            } else {
                format!("- {line}\n")
            };
        }
        let plain = text::printable(&text::strip_ansi(&said.replace("\r\n", "\n")));
        let mut out = String::with_capacity(plain.len() + 16);
        let mut gap = 0;
        for line in plain.split(['\n', '\u{2028}', '\u{2029}', '\u{85}']) {
            let armed =
                memchr::memchr_iter(b':', line.as_bytes()).any(|at| self.is_armed(&line[..at]));
            let line = if armed {
                Cow::Owned(self.disarmed(line))
            } else {
                Cow::Borrowed(line)
            };
            let line = line.trim_end();
            if line.trim_start().is_empty() {
                gap += 1;
                continue;
            }
            if out.is_empty() {
                out.push_str("- ");
                out.push_str(line.trim_start());
            } else {
                out.extend(std::iter::repeat_n('\n', gap));
                out.push_str("  ");
                out.push_str(line);
            }
            out.push('\n');
            gap = 0;
        }
        out
    }

    /// The line without the colons that follow a prefix.
    fn disarmed(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        for c in line.chars() {
            // Asked of what is written so far: taking one colon out may bring a prefix together.
            let c = if c == ':' && self.is_armed(&out) {
                ' '
            } else {
                c
            };
            if c != ' ' || !(out.is_empty() || out.ends_with(' ')) {
                out.push(c);
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Whether a colon after `before` would make a signal, marks and blanks between them aside.
    fn is_armed(&self, before: &str) -> bool {
        let mut rest = before;
        for _ in 0..=MARKS_MAX {
            if self.prefixes.iter().any(|p| ends_with_word(rest, p)) {
                return true;
            }
            match rest.chars().next_back() {
                Some(c) if is_mark(c) => rest = &rest[..rest.len() - c.len_utf8()],
                Some(_) | None => return false,
            }
        }
        false
    }
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        ' ' | '*' | '_' | '`' | '~' | '"' | '\'' | ')' | ']' | '\u{200b}' | '\u{feff}'
    )
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.len().checked_sub(word.len()) else {
        return false;
    };
    text.is_char_boundary(start)
        && text[start..].eq_ignore_ascii_case(word)
        && !text[..start].ends_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let prefixes = ["HEIRLOOM_MEMORY".to_owned(), "MY".to_owned()];
        assert_eq!(Cleaner::new(&prefixes).clean(text), expect);
    }

    #[test]
    fn a_stored_signal_is_no_signal_any_more() {
        check("HEIRLOOM_MEMORY: KEY_FACT x", "HEIRLOOM_MEMORY KEY_FACT x");
        check("HEIRLOOM_MEMORY:KEY_FACT x", "HEIRLOOM_MEMORY KEY_FACT x");
        check("> - HEIRLOOM_MEMORY :: a", "> - HEIRLOOM_MEMORY a");
        check("**heirloom_memory**: a", "**heirloom_memory** a");
        check("`HEIRLOOM_MEMORY`: a", "`HEIRLOOM_MEMORY` a");
        check("_HEIRLOOM_MEMORY_: a", "_HEIRLOOM_MEMORY_ a");
        check("a\nHEIRLOOM_MEMORY: b: c", "a | HEIRLOOM_MEMORY b: c");
        check(
            "HEIRLOOM_MEMORY: HEIRLOOM_MEMORY:",
            "HEIRLOOM_MEMORY HEIRLOOM_MEMORY",
        );
        check("\u{1b}[31mHEIRLOOM_MEMORY\u{1b}[0m: a", "HEIRLOOM_MEMORY a");
        check("MY:: : :x", "MY x");
        check(":", ":");
    }

    #[test]
    fn taking_a_colon_out_never_makes_a_signal() {
        let prefixes = ["MY".to_owned(), "MY MEMORY".to_owned()];
        let clean = Cleaner::new(&prefixes);
        assert_eq!(clean.clean("MY:MEMORY: x"), "MY MEMORY x");
    }

    #[test]
    fn other_words_keep_their_colon() {
        check("dummy: x", "dummy: x");
        check("TestTokenExpiry: got nil", "TestTokenExpiry: got nil");
        check(
            "HEIRLOOM_MEMORY is a: prefix",
            "HEIRLOOM_MEMORY is a: prefix",
        );
    }

    #[test]
    fn lines_keep_their_blanks() {
        let prefixes = ["MY".to_owned()];
        let clean = Cleaner::new(&prefixes);
        for (text, expect) in [
            ("fn a() {\n    b:  c\n\n}\n", "fn a() {\n    b:  c\n\n}\n"),
            ("a\n    MY: x\nb", "a\n    MY x\nb"),
            ("a\r\nMY:x\rMY:y\r\n", "a\nMY x\nMY y\n"),
            ("\u{1b}[1mMY\u{1b}[0m: x\u{7}", "MY x\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(clean.lines(text), expect, "{text:?}");
        }
    }

    #[test]
    fn what_is_clean_is_not_copied() {
        let clean = Cleaner::new(&[]);
        assert!(matches!(clean.clean("für alle: ja"), Cow::Borrowed(_)));
        assert!(matches!(clean.clean("two  blanks"), Cow::Owned(_)));
    }
}

//! Sanitizing of stored text before it is written into a prompt.

use heirloom_model::prompt_safety::{neutralize_document, neutralize_markup};
use heirloom_model::text;
use std::borrow::Cow;

/// Maximum number of formatting characters between a prefix and its colon.
const FILLERS_MAX: usize = 16;

/// Puts texts on one line and neutralizes the signals in them.
pub(super) struct Sanitizer<'p> {
    prefixes: Vec<&'p str>,
}

impl<'p> Sanitizer<'p> {
    /// Creates a sanitizer for signals with these prefixes.
    pub(super) fn new(prefixes: &'p [String]) -> Self {
        let words = prefixes
            .iter()
            .map(|prefix| prefix.trim().trim_end_matches(':').trim_end());
        Self {
            prefixes: words.filter(|prefix| !prefix.is_empty()).collect(),
        }
    }

    /// Returns the text on one line, without control characters, markup of hosts and signals; borrowed if nothing changes.
    pub(super) fn one_line<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let visible = visible_text(text);
        let line = match neutralize_markup(&visible) {
            Cow::Borrowed(safe) if text::is_one_line(safe) => visible,
            safe @ (Cow::Borrowed(_) | Cow::Owned(_)) => Cow::Owned(text::one_line(&safe)),
        };
        let has_signal =
            memchr::memchr_iter(b':', line.as_bytes()).any(|at| self.completes_signal(&line[..at]));
        if has_signal {
            Cow::Owned(self.neutralize_line(&line))
        } else {
            line
        }
    }

    /// Sanitizes a text line by line and preserves its blanks. Only lines with a signal are neutralized.
    pub(super) fn sanitize_lines(
        &self,
        text: &str,
        neutralize: fn(&str) -> Cow<'_, str>,
    ) -> String {
        let lines = visible_text(text).replace("\r\n", "\n").replace('\r', "\n");
        let text = neutralize(&lines);
        let mut out = String::with_capacity(text.len());
        for whole in text.split_inclusive('\n') {
            let line = whole.trim_end_matches('\n');
            let has_signal = memchr::memchr_iter(b':', line.as_bytes())
                .any(|at| self.completes_signal(&line[..at]));
            if has_signal {
                let words = line.trim_start();
                out.push_str(&line[..line.len() - words.len()]);
                out.push_str(&self.neutralize_line(words));
                out.push_str(&whole[line.len()..]);
            } else {
                out.push_str(whole);
            }
        }
        out
    }

    /// Returns the text as a block with an empty line above it; empty if no text is left.
    pub(super) fn render_block(&self, text: &str) -> String {
        let lines = self.sanitize_lines(text, neutralize_document);
        match lines.trim_end() {
            "" => String::new(),
            _ if lines.ends_with('\n') => format!("\n{lines}"),
            _ => format!("\n{lines}\n"),
        }
    }

    /// Returns the text as a list item: its first line after a dash, the others indented, so that none of them begins
    /// a heading. Empty if no text is left.
    pub(super) fn render_item(&self, text: &str) -> String {
        if !text.trim().contains('\n') {
            let line = self.one_line(text.trim());
            return if line.is_empty() {
                String::new()
            } else {
                format!("- {line}\n")
            };
        }
        let visible = visible_text(text);
        let plain = neutralize_markup(&visible);
        let mut out = String::with_capacity(plain.len() + 16);
        let mut gap = 0;
        for line in plain.split(['\n', '\u{2028}', '\u{2029}', '\u{85}']) {
            let has_signal = memchr::memchr_iter(b':', line.as_bytes())
                .any(|at| self.completes_signal(&line[..at]));
            let line = if has_signal {
                Cow::Owned(self.neutralize_line(line))
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

    /// Removes the colons that follow a prefix.
    fn neutralize_line(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        for c in line.chars() {
            // The output is tested and not the input: removing a colon may complete another prefix.
            let c = if c == ':' && self.completes_signal(&out) {
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

    /// Returns true if a colon after `before` completes a signal. Formatting characters between prefix and colon are
    /// ignored.
    fn completes_signal(&self, before: &str) -> bool {
        let mut rest = before;
        for _ in 0..=FILLERS_MAX {
            if self.prefixes.iter().any(|p| ends_with_word(rest, p)) {
                return true;
            }
            match rest.chars().next_back() {
                Some(c) if is_filler(c) => rest = &rest[..rest.len() - c.len_utf8()],
                Some(_) | None => return false,
            }
        }
        false
    }
}

/// Returns a text without escape sequences of terminals.
fn visible_text(text: &str) -> Cow<'_, str> {
    match text.contains('\u{1b}') {
        true => Cow::Owned(text::strip_ansi(text)),
        false => Cow::Borrowed(text),
    }
}

fn is_filler(c: char) -> bool {
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
        assert_eq!(Sanitizer::new(&prefixes).one_line(text), expect);
    }

    #[test]
    fn one_line_of_stored_signal_removes_colon() {
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
    fn one_line_after_removing_colon_creates_no_new_signal() {
        let prefixes = ["MY".to_owned(), "MY MEMORY".to_owned()];
        let sanitizer = Sanitizer::new(&prefixes);
        assert_eq!(sanitizer.one_line("MY:MEMORY: x"), "MY MEMORY x");
    }

    #[test]
    fn one_line_of_other_words_keeps_colon() {
        check("dummy: x", "dummy: x");
        check("TestTokenExpiry: got nil", "TestTokenExpiry: got nil");
        check(
            "HEIRLOOM_MEMORY is a: prefix",
            "HEIRLOOM_MEMORY is a: prefix",
        );
    }

    #[test]
    fn lines_preserves_indentation_and_blank_lines() {
        let prefixes = ["MY".to_owned()];
        let sanitizer = Sanitizer::new(&prefixes);
        for (text, expect) in [
            ("fn a() {\n    b:  c\n\n}\n", "fn a() {\n    b:  c\n\n}\n"),
            ("a\n    MY: x\nb", "a\n    MY x\nb"),
            ("a\r\nMY:x\rMY:y\r\n", "a\nMY x\nMY y\n"),
            ("\u{1b}[1mMY\u{1b}[0m: x\u{7}", "MY x\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(
                sanitizer.sanitize_lines(text, neutralize_document),
                expect,
                "{text:?}"
            );
        }
    }

    #[test]
    fn one_line_of_clean_text_borrows() {
        let sanitizer = Sanitizer::new(&[]);
        assert!(matches!(
            sanitizer.one_line("für alle: ja"),
            Cow::Borrowed(_)
        ));
        assert!(matches!(sanitizer.one_line("two  blanks"), Cow::Owned(_)));
    }
}

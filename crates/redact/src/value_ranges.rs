//! Ranges of values: string literals, bare values, and words of sentences.

use super::scan::{Scanner, mark_end};
use super::text_bytes::TextBytes as _;
use super::value_shape;

/// Maximum length of a word of a sentence in bytes.
const WORD_MAX: usize = 64;
/// Maximum length of a bare value in brackets, in bytes.
const BRACKETED_MAX: usize = 256;

impl Scanner<'_> {
    /// Returns the range of the string literal that begins at `at`, and true if it may be a template.
    pub(super) fn quoted_literal(&mut self, at: usize) -> Option<(std::ops::Range<usize>, bool)> {
        let mut open = at;
        let mut template = false;
        while open < at + 2 && b"fFrRbBuU@$".contains(&self.bytes.byte(open)) {
            template |= b"fF$".contains(&self.bytes.byte(open));
            open += 1;
        }
        let escapes = usize::from(self.bytes.byte(open) == b'\\');
        let quote = self.bytes.byte(open + escapes);
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let start = open + escapes + 1;
        let line_end = self.line_end(start);
        let mut end = start;
        loop {
            let rest = self.bytes.get(end..line_end).unwrap_or_default();
            // A literal without a closing quote ends with the line.
            let Some(n) = memchr::memchr(quote, rest) else {
                return Some((start..line_end, template));
            };
            let slashes = rest[..n].iter().rev().take_while(|&&b| b == b'\\').count();
            end += n;
            if escapes == 1 && slashes > 0 {
                return Some((start..end - 1, template));
            }
            if slashes % 2 == 0 {
                return Some((start..end, template));
            }
            end += 1;
        }
    }

    /// Returns the range of a value without quotes. A `free` value ends at the next blank, others at a separator of
    /// values.
    pub(super) fn bare_value(&mut self, at: usize, free: bool) -> std::ops::Range<usize> {
        let known = self.bare_value_cache[usize::from(free)];
        let mut end = if (known.0..known.1).contains(&at) {
            known.1
        } else {
            // A mark is part of the value, with all its characters.
            let mut end = mark_end(self.bytes, at)
                .or_else(|| self.bracketed_end(at))
                .unwrap_or(at);
            while let Some(&b) = self.bytes.get(end) {
                let next = self.bytes.byte(end + 1);
                let ends = b.is_ascii_whitespace()
                    || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>')
                    || (b == b'\\' && matches!(next, b'n' | b'r' | b't' | b'"' | b'\''))
                    || (!free && matches!(b, b';' | b'&' | b','));
                if ends {
                    break;
                }
                end += 1;
            }
            self.bare_value_cache[usize::from(free)] = (at, end);
            end
        };
        let marked = mark_end(self.bytes, at)
            .or_else(|| self.bracketed_end(at))
            .unwrap_or(at);
        let closing: &[u8] = if free { b"" } else { b")}].:" };
        while end > marked && closing.contains(&self.bytes[end - 1]) {
            end -= 1;
        }
        at..end
    }

    /// Returns the end of a bare value in brackets, such as `<value>`, if it is a single random word.
    fn bracketed_end(&self, at: usize) -> Option<usize> {
        let close = match self.bytes.byte(at) {
            b'<' => b'>',
            b'[' => b']',
            b'{' => b'}',
            _ => return None,
        };
        let rest = self.bytes.get(at + 1..)?;
        let rest = rest.get(..BRACKETED_MAX).unwrap_or(rest);
        let ends = |b: &u8| b.is_ascii_whitespace() || b"\"'`<>[]{}(),;".contains(b);
        let length = rest.iter().position(ends)?;
        let inner = self.text.get(at + 1..at + 1 + length)?;
        (rest.get(length) == Some(&close) && !value_shape::is_placeholder(inner))
            .then(|| value_shape::is_generated(inner, 3.0))
            .filter(|random| *random)
            .map(|_| at + length + 2)
    }

    /// Returns the range of a word of a sentence, without quotes and final punctuation.
    pub(super) fn plain_word(&self, at: usize) -> std::ops::Range<usize> {
        let quote = usize::from(matches!(self.bytes.byte(at), b'`' | b'"' | b'\''));
        let start = at + quote;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..WORD_MAX).unwrap_or(rest);
        let ends = |b: &u8| b.is_ascii_whitespace() || b"`\"'<>".contains(b);
        let mut length = rest.iter().take_while(|b| !ends(b)).count();
        while length > 0 && b".,;:)?".contains(&rest[length - 1]) {
            length -= 1;
        }
        start..start + length
    }
}

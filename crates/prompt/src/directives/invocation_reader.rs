//! Cursor in the text of an invocation: words, quotes, escapes, and errors with their column.

use super::{SyntaxError, caret_excerpt};
use heirloom_model::text;

/// Cursor in the text of an invocation.
pub(super) struct InvocationReader<'t> {
    text: &'t str,
    at: usize,
}

/// A value or a name, with its offset; `is_quoted` if it was in quotes.
pub(super) struct ParsedWord {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) is_quoted: bool,
}

impl<'t> InvocationReader<'t> {
    /// Creates a cursor at the beginning of `text`.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Consumes the character if it is the next one; returns true if it was.
    pub(super) fn consume(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.at += c.len_utf8();
        }
        is_next
    }

    /// Skips white space.
    pub(super) fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Reads the characters of a name; none if another character is next.
    pub(super) fn read_name(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads a quoted text, or the characters up to one of `stops` without the blanks around them.
    ///
    /// The text after closing quotes is not checked. `open` is the offset of the enclosing bracket or quote, for
    /// errors.
    pub(super) fn read_word(
        &mut self,
        stops: &[char],
        open: usize,
    ) -> Result<ParsedWord, SyntaxError> {
        self.skip_blanks();
        let at = self.at;
        if self.peek() == Some('"') {
            let text = self.read_quoted(open)?;
            self.skip_blanks();
            return Ok(ParsedWord {
                text,
                at,
                is_quoted: true,
            });
        }
        let rest = &self.text[at..];
        let end = rest.find(|c| stops.contains(&c)).unwrap_or(rest.len());
        self.at += end;
        Ok(ParsedWord {
            text: rest[..end].trim_end().to_owned(),
            at,
            is_quoted: false,
        })
    }

    /// Reads a quoted text and decodes its escapes.
    fn read_quoted(&mut self, open: usize) -> Result<String, SyntaxError> {
        let start = self.at;
        self.consume('"');
        let mut text = String::new();
        while let Some(c) = self.peek() {
            let at = self.at;
            self.consume(c);
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.read_escape(at)?),
                c => text.push(c),
            }
        }
        let problem = if start == open {
            "this quote is not closed"
        } else {
            "this quote is not closed, and neither are the brackets around it"
        };
        Err(self.error(start, problem, "a quote inside of quotes is `\\\"`"))
    }

    /// Decodes an escape. Its backslash, at `at`, was consumed.
    fn read_escape(&mut self, at: usize) -> Result<char, SyntaxError> {
        let known = "known are \\\" \\\\ \\n \\r \\t and \\u{…}";
        let unknown = |reader: &Self| reader.error(at, "an unknown escape", known);
        let c = self.peek().ok_or_else(|| unknown(self))?;
        self.consume(c);
        match c {
            '"' | '\\' => Ok(c),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => {
                let rest = self.text[self.at..].strip_prefix('{');
                let code = rest.and_then(|rest| rest.split_once('}'));
                let (code, _) = code.ok_or_else(|| unknown(self))?;
                let is_hex = (1..=6).contains(&code.len())
                    && code.bytes().all(|byte| byte.is_ascii_hexdigit());
                let number = u32::from_str_radix(code, 16).ok().filter(|_| is_hex);
                let c = number.and_then(char::from_u32);
                let c = c.ok_or_else(|| unknown(self))?;
                self.at += code.len() + 2;
                Ok(c)
            }
            _ => Err(unknown(self)),
        }
    }

    /// Returns the error for the next character, in brackets that were opened at `open`.
    pub(super) fn unexpected_error(&self, open: usize) -> SyntaxError {
        match self.peek() {
            None => self.error(open, "this `[` is not closed", "close it with `]`"),
            Some('[') => {
                let hint = "put a name that holds a bracket in quotes";
                self.error(self.at, "a `[` inside of brackets", hint)
            }
            Some(_) => {
                let problem = "unexpected text";
                self.error(
                    self.at,
                    problem,
                    "`;` begins another directive, `]` ends them",
                )
            }
        }
    }

    /// Returns the current offset in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns an error at the current offset.
    pub(super) fn error_here(&self, problem: impl Into<String>, hint: &str) -> SyntaxError {
        self.error(self.at, problem, hint)
    }

    /// Returns an error at the byte `at`.
    pub(super) fn error(&self, at: usize, problem: impl Into<String>, hint: &str) -> SyntaxError {
        let all = text::chars(self.text).max(1);
        let column = (text::chars(&self.text[..at]) + 1).min(all);
        SyntaxError {
            column,
            problem: problem.into(),
            hint: hint.to_owned(),
            caret_excerpt: caret_excerpt(self.text, column),
        }
    }
}

//! Syntax between a name and its value: operators, types, constructors, and blocks of many languages.

use super::text_bytes::TextBytes as _;
use super::value_rules::ValueSyntax;

/// Maximum length in bytes of the type of a variable, and of the path of a constructor.
pub(super) const TYPE_LENGTH: usize = 48;

/// Functions and types that construct a value from a literal.
const MAKERS: &[&[u8]] = &[
    b"from",
    b"new",
    b"string",
    b"str",
    b"bytes",
    b"byte",
    b"[]byte",
    b"some",
    b"ok",
    b"of",
    b"valueof",
    b"secretstring",
    b"secretstr",
    b"secret",
    b"literal",
    b"box",
    b"arc",
    b"default",
    b"quote",
];

/// Number of words before the name in a quoted label.
const LABEL_WORDS_MAX: usize = 2;
/// Bytes before a name in which the beginning of its label is searched.
const LABEL_BYTES_MAX: usize = 64;

/// Reader of the syntax between a name and its value.
#[derive(Clone, Copy)]
pub(super) struct AssignmentSyntax<'t> {
    bytes: &'t [u8],
}

impl<'t> AssignmentSyntax<'t> {
    /// Reads in the bytes of a whole text.
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        Self { bytes }
    }

    /// Finds the value of the name that ends at `end`; returns the syntax and the offset of the value.
    #[inline]
    pub(super) fn find_value(self, start: usize, end: usize) -> Option<(ValueSyntax, usize)> {
        let mut at = end;
        while at < end + 4 && self.bytes.byte(at) == b'\\' {
            at += 1;
        }
        let closed = matches!(self.bytes.byte(at), b'"' | b'\'' | b'`');
        at += usize::from(closed);
        at += usize::from(self.bytes.byte(at) == b']');
        at = self.skip_emphasis(at);
        let blanks = self.bytes.skip_blanks(at) - at;
        let here = at + blanks;
        let found = self.find_value_after(start, here, closed, blanks)?;
        let tight = blanks == 0 && found.0 == ValueSyntax::Equals;
        let value = if found.0 == ValueSyntax::Element {
            found.1
        } else {
            self.bytes.skip_blanks(self.skip_emphasis(found.1))
        };
        let syntax = if tight && value == found.1 {
            ValueSyntax::Tight
        } else {
            found.0
        };
        Some((syntax, value))
    }

    /// Skips the end of an emphasis: `**Password:** …`.
    fn skip_emphasis(self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let signs = rest.iter().take(3).take_while(|b| **b == b'*').count();
        if signs > 0 && matches!(rest.get(signs), Some(b':' | b' ' | b'=')) {
            at + signs
        } else {
            at
        }
    }

    /// Returns the syntax at `here`, and the offset after it.
    #[inline]
    fn find_value_after(
        self,
        start: usize,
        here: usize,
        closed: bool,
        blanks: usize,
    ) -> Option<(ValueSyntax, usize)> {
        let after = self.bytes.byte(here + 1);
        let literal = |at: usize| {
            matches!(
                self.bytes.byte(self.bytes.skip_blanks(at)),
                b'"' | b'\'' | b'`'
            )
        };
        Some(match self.bytes.byte(here) {
            b'=' => {
                let rest = self.bytes[here..].iter().take(3);
                let more = rest.take_while(|b| b"=>".contains(b)).count();
                (ValueSyntax::Equals, here + more)
            }
            // Assignment operators of many languages: `:=`, `:::=`, `.=`, `+=`, `!=`, `??=`.
            b':' | b'.' | b'+' | b'|' | b'?' | b'!'
                if self.assignment_operator_end(here).is_some() =>
            {
                (ValueSyntax::Equals, self.assignment_operator_end(here)?)
            }
            b':' if after == b':' => return None,
            // Shell: default value of a variable (`${NAME:-value}`).
            b':' if after == b'-' => (ValueSyntax::Equals, here + 2),
            b':' if after == b'?' || after == b'+' => return None,
            b':' => (ValueSyntax::Colon, here + 1),
            b'?' if after == b':' => (ValueSyntax::Colon, here + 2),
            b'>' if blanks == 0 && start > 0 && self.bytes[start - 1] == b'<' => {
                (ValueSyntax::Element, here + 1)
            }
            // `<entry key="name">value<`
            b'>' if closed => (ValueSyntax::Attribute, here + 1),
            b'(' if blanks == 0 && matches!(after, b'"' | b'\'') => (ValueSyntax::Call, here + 1),
            b',' if closed && literal(here + 1) && !self.ends_quoted_prose(start, here + 1) => {
                (ValueSyntax::Call, here + 1)
            }
            // Fallback value.
            b'|' | b'?' | b'o' | b')'
                if (blanks > 0 || closed) && self.fallback_literal(here).is_some() =>
            {
                (ValueSyntax::Call, self.fallback_literal(here)?)
            }
            _ if closed && self.bytes.has_text_at(here, b"value") => {
                let equals = self.bytes.skip_blanks(here + 5);
                if self.bytes.byte(equals) != b'=' {
                    return None;
                }
                (ValueSyntax::Equals, equals + 1)
            }
            0 => return None,
            _ if blanks > 0 && !closed => (ValueSyntax::Blank, here),
            _ => return None,
        })
    }

    /// Returns true if the name at `start` is the end of a quoted sentence in a list of messages, with the next message
    /// at `next`: `"never show the password", "ask first"`, `"must pass", "should pass"`. A label such as
    /// `"DB Password"` is no sentence.
    fn ends_quoted_prose(self, start: usize, next: usize) -> bool {
        let from = start.saturating_sub(LABEL_BYTES_MAX);
        let before = self.bytes.get(from..start).unwrap_or_default();
        let quoted = before
            .rsplit(|b| matches!(b, b'"' | b'\'' | b'`' | b'\n'))
            .next()
            .unwrap_or_default();
        let words = quoted.split(u8::is_ascii_whitespace);
        let words = words.filter(|word| !word.is_empty()).count();
        let is_verb = || {
            let name_end = start + b"pass".len();
            self.bytes.has_text_at(start, b"pass")
                && !self.bytes.byte(name_end).is_ascii_alphanumeric()
        };
        words > LABEL_WORDS_MAX || (words > 0 && is_verb() && self.has_several_words(next))
    }

    /// Returns true if the literal after `at` has a blank.
    fn has_several_words(self, at: usize) -> bool {
        let open = self.bytes.skip_blanks(at);
        let rest = self.bytes.get(open + 1..).unwrap_or_default();
        let rest = rest.get(..LABEL_BYTES_MAX).unwrap_or(rest);
        let mut literal = rest.iter().take_while(|b| **b != self.bytes.byte(open));
        literal.any(u8::is_ascii_whitespace)
    }

    /// Returns the end of an assignment operator; comparisons with `<` and `>` are not operators here.
    fn assignment_operator_end(self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?.iter().take(4);
        let signs = rest
            .take_while(|b| matches!(**b, b':' | b'.' | b'+' | b'|' | b'?' | b'!'))
            .count();
        let equals = self.bytes.byte(at + signs) == b'=' && self.bytes.byte(at + signs + 1) != b'>';
        let more = usize::from(self.bytes.byte(at + signs + 1) == b'=');
        equals.then_some(at + signs + 1 + more)
    }

    /// Returns the literal that is used if a variable is not set: after `||`, `??` and `or`.
    fn fallback_literal(self, at: usize) -> Option<usize> {
        let at = self
            .bytes
            .skip_blanks(at + usize::from(self.bytes.byte(at) == b')'));
        let signs = [&b"||"[..], b"??", b"or "]
            .into_iter()
            .find(|signs| self.bytes.has_text_at(at, signs))?;
        let literal = self.bytes.skip_blanks(at + signs.len());
        matches!(self.bytes.byte(literal), b'"' | b'\'' | b'`').then_some(literal)
    }

    /// Returns the literal after the type of a variable: `: &str = "…"`, `string = "…"`; or in a constructor call:
    /// `String::from("…")`.
    pub(super) fn typed_literal(self, at: usize) -> Option<usize> {
        let first = self.bytes.byte(at);
        if !first.is_ascii_alphabetic() && !matches!(first, b'&' | b'[' | b'*') {
            return None;
        }
        let rest = self.bytes.get(at..)?;
        let rest = rest.get(..TYPE_LENGTH).unwrap_or(rest);
        let of_type = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(
                    *b,
                    b'_' | b'<'
                        | b'>'
                        | b'['
                        | b']'
                        | b'&'
                        | b'\''
                        | b'*'
                        | b'.'
                        | b','
                        | b':'
                        | b'?'
                        | b' '
                )
        };
        let length = rest.iter().take_while(|b| of_type(b)).count();
        if length > 0 && self.bytes.byte(at + length) == b'=' {
            let literal = self.bytes.skip_blanks(at + length + 1);
            let more = self.constructor_literal(literal).unwrap_or(literal);
            return matches!(self.bytes.byte(more), b'"' | b'\'' | b'`').then_some(more);
        }
        self.constructor_literal(at)
    }

    /// Returns the literal argument of a constructor call.
    pub(super) fn constructor_literal(self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        let rest = rest.get(..TYPE_LENGTH).unwrap_or(rest);
        let of_path = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(*b, b'_' | b':' | b'.' | b'[' | b']' | b'<' | b' ' | b'>')
        };
        let length = rest.iter().take_while(|b| of_path(b)).count();
        let literal = at + length + 1;
        let is_call = length > 0 && self.bytes.byte(at + length) == b'(';
        if !is_call || !matches!(self.bytes.byte(literal), b'"' | b'\'' | b'`') {
            return None;
        }
        let path = rest.get(..length)?.trim_ascii();
        let name = path.rsplit(|b| matches!(*b, b':' | b'.' | b' ')).next()?;
        let makes = MAKERS.iter().any(|maker| name.eq_ignore_ascii_case(maker));
        makes.then_some(literal)
    }

    /// Returns the value of a YAML block scalar: the line after `|` or `>`.
    pub(super) fn yaml_block(self, at: usize) -> Option<usize> {
        if !matches!(self.bytes.byte(at), b'|' | b'>') {
            return None;
        }
        let more = usize::from(matches!(self.bytes.byte(at + 1), b'-' | b'+'));
        let line = self.bytes.skip_blanks(at + 1 + more);
        let value = self.bytes.skip_blanks(line + 1);
        (self.bytes.byte(line) == b'\n' && value > line + 1).then_some(value)
    }
}

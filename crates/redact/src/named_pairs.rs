//! Secrets whose name and value are fields of their own: `{"name": "DB_PASSWORD", "value": "…"}`, `<key>`, variable
//! blocks of Terraform, and lists of cookies.

use super::scan::Scanner;
use super::text_bytes::TextBytes as _;
use super::value_rules::{self, ValueSyntax};
use std::ops::{Deref, DerefMut, Range};

/// Maximum distance in bytes between the two fields.
const PAIR_MAX: usize = 400;
/// Maximum length of a block of a variable, and of a list of cookies, in bytes.
const BLOCK_MAX: usize = 2_048;
/// Maximum length of a field's name in bytes.
const FIELD_MAX: usize = 32;

/// Ends of the names of fields that contain a name.
const NAMING: &[&[u8]] = &[
    b"name",
    b"key",
    b"header",
    b"field",
    b"variable",
    b"var",
    b"id",
    b"label",
    b"title",
    b"parameter",
    b"param",
    b"option",
    b"property",
    b"setting",
    b"env",
    b"k",
];
/// Ends of the names of fields that contain a value.
const VALUES: &[&[u8]] = &[
    b"value",
    b"val",
    b"default",
    b"content",
    b"contents",
    b"data",
    b"text",
    b"string",
    b"secret",
    b"v",
];

/// Scan of fields of which one has the name of the other.
pub(super) struct PairScan<'s, 't>(pub(super) &'s mut Scanner<'t>);

impl<'t> Deref for PairScan<'_, 't> {
    type Target = Scanner<'t>;

    fn deref(&self) -> &Scanner<'t> {
        self.0
    }
}

impl<'t> DerefMut for PairScan<'_, 't> {
    fn deref_mut(&mut self) -> &mut Scanner<'t> {
        self.0
    }
}

impl<'t> PairScan<'_, 't> {
    /// Finds the value of a name that is itself the value of a field such as `name`. Returns the syntax and the offset
    /// of the value.
    pub(super) fn paired_value(&self, name: &Range<usize>) -> Option<(ValueSyntax, usize)> {
        let quote = self.quote_before(name.start);
        let open = name.start - usize::from(quote.is_some());
        if let Some(found) = self.variable_block(open, name.end, quote) {
            return Some(found);
        }
        let field = self.field_before(open)?;
        let is_naming = |end: &&[u8]| ends_with_word(&self.bytes[field.clone()], end);
        if !NAMING.iter().any(is_naming) {
            return None;
        }
        // The name has to be the whole value of its field.
        let after = match quote {
            Some(quote) => (self.bytes.byte(name.end) == quote).then_some(name.end + 1)?,
            None => name.end,
        };
        let ends = matches!(
            self.bytes.byte(self.bytes.skip_blanks(after)),
            b'\n' | b'\r' | b',' | b';' | b'}' | b'<' | b'\\' | 0
        ) || self.is_value_field(self.bytes.skip_blanks(after));
        if !ends {
            return None;
        }
        self.value_after(after)
            .or_else(|| self.value_before(field.start))
    }

    /// Returns the quote in front of a name.
    fn quote_before(&self, at: usize) -> Option<u8> {
        let before = self.bytes.byte(at.checked_sub(1)?);
        matches!(before, b'"' | b'\'' | b'`').then_some(before)
    }

    /// Returns the range of the field name whose value begins at `at`: `name: `, `"name": `, `name=`, `<name>`.
    fn field_before(&self, at: usize) -> Option<Range<usize>> {
        let before = self.bytes.get(at.saturating_sub(FIELD_MAX)..at)?;
        let blanks = before
            .iter()
            .rev()
            .take_while(|b| matches!(**b, b' ' | b'\t'))
            .count();
        let sign = at.checked_sub(blanks + 1)?;
        let mut end = sign;
        match self.bytes[sign] {
            b':' | b'=' | b'>' => {}
            _ => return None,
        }
        if self.bytes[sign] != b'>' {
            while end > 0 && matches!(self.bytes[end - 1], b' ' | b'\\' | b'=') {
                end -= 1;
            }
            if end > 0 && matches!(self.bytes[end - 1], b'"' | b'\'') {
                end -= 1;
                end -= usize::from(end > 0 && self.bytes[end - 1] == b'\\');
            }
        }
        let word = self.bytes[..end]
            .iter()
            .rev()
            .take(FIELD_MAX)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        (word > 0).then(|| end - word..end)
    }

    /// Returns true if a field of a value begins at `at`.
    fn is_value_field(&self, at: usize) -> bool {
        self.value_field(at).is_some()
    }

    /// Reads a field of a value at `at`: `value: `, `"value": `, `value=`, `<value>`. Returns the syntax and the offset
    /// of the value.
    fn value_field(&self, at: usize) -> Option<(ValueSyntax, usize)> {
        let mut start = at;
        while matches!(self.bytes.byte(start), b'"' | b'\'' | b'\\' | b'<') {
            start += 1;
        }
        let rest = self.bytes.get(start..)?;
        let word = rest
            .iter()
            .take(FIELD_MAX)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let name = rest.get(..word)?;
        if !VALUES.iter().any(|end| ends_with_word(name, end)) {
            return None;
        }
        let mut after = start + word;
        while matches!(self.bytes.byte(after), b'"' | b'\'' | b'\\') {
            after += 1;
        }
        after = self.bytes.skip_blanks(after);
        match self.bytes.byte(after) {
            b':' => Some((ValueSyntax::Colon, self.bytes.skip_blanks(after + 1))),
            b'=' => Some((ValueSyntax::Equals, self.bytes.skip_blanks(after + 1))),
            b'>' => Some((ValueSyntax::Element, after + 1)),
            _ => None,
        }
    }

    /// Finds the field of the value behind the field of the name, in the same object.
    fn value_after(&self, from: usize) -> Option<(ValueSyntax, usize)> {
        let rest = self.bytes.get(from..)?;
        let rest = rest.get(..PAIR_MAX).unwrap_or(rest);
        let mut at = 0;
        let mut quoted = None;
        while let Some(&byte) = rest.get(at) {
            let begins = at == 0 || !is_word(rest[at - 1]);
            match (quoted, byte) {
                (None, b'}' | b']') => return None,
                // The next item of a list.
                (None, b'-') if is_line_start(rest, at) => return None,
                (None, b'\n') if rest.get(at + 1) == Some(&b'\n') => return None,
                _ => {}
            }
            if begins && is_word(byte) {
                if let Some(found) = self.value_field(from + at) {
                    return Some(found);
                }
                // Another name belongs to another value.
                let word = rest[at..].iter().take_while(|b| is_word(**b)).count();
                let next = self.field_sign(from + at + word);
                let name = &rest[at..at + word];
                if next && (name.eq_ignore_ascii_case(b"name") || name.eq_ignore_ascii_case(b"key"))
                {
                    return None;
                }
                at += word;
                continue;
            }
            if byte == b'"' {
                quoted = match quoted {
                    Some(_) => None,
                    None => Some(()),
                };
            }
            at += 1;
        }
        None
    }

    /// Returns true if the word that ends at `at` is the name of a field.
    fn field_sign(&self, at: usize) -> bool {
        let mut after = at;
        while matches!(self.bytes.byte(after), b'"' | b'\'' | b'\\') {
            after += 1;
        }
        matches!(self.bytes.byte(self.bytes.skip_blanks(after)), b':' | b'=')
    }

    /// Finds the field of the value in front of the field of the name, in the same object.
    fn value_before(&self, field: usize) -> Option<(ValueSyntax, usize)> {
        let from = field.saturating_sub(PAIR_MAX);
        let before = self.bytes.get(from..field)?;
        let opened = before
            .iter()
            .rposition(|b| matches!(b, b'{' | b'}' | b'[' | b'('));
        let item = memchr::memmem::rfind(before, b"- ").filter(|at| is_line_start(before, *at));
        let start = opened.max(item).map_or(0, |at| at + 1);
        let part = before.get(start..)?;
        let places = (0..part.len())
            .filter(|at| is_word(part[*at]) && (*at == 0 || !is_word(part[*at - 1])));
        let mut found = None;
        for at in places {
            found = self.value_field(from + start + at).or(found);
        }
        found
    }

    /// Finds the value in a block of Terraform: `variable "db_password" { default = "…" }`.
    fn variable_block(
        &self,
        open: usize,
        end: usize,
        quote: Option<u8>,
    ) -> Option<(ValueSyntax, usize)> {
        if quote != Some(b'"') {
            return None;
        }
        let brace = self.bytes.skip_blanks(end + 1);
        if self.bytes.byte(end) != b'"' || self.bytes.byte(brace) != b'{' {
            return None;
        }
        let before = self.bytes.get(..open)?.trim_ascii_end();
        if !before.ends_with(b"variable") && !before.ends_with(b"output") {
            return None;
        }
        let block = self.bytes.get(brace..)?;
        let block = block.get(..BLOCK_MAX).unwrap_or(block);
        let close = memchr::memmem::find(block, b"\n}").unwrap_or(block.len());
        let block = &block[..close];
        [&b"default"[..], b"value"].into_iter().find_map(|word| {
            memchr::memmem::find_iter(block, word).find_map(|at| {
                let begins = !is_word(*block.get(at.checked_sub(1)?)?);
                let sign = self.bytes.skip_blanks(brace + at + word.len());
                (begins && self.bytes.byte(sign) == b'=')
                    .then(|| (ValueSyntax::Equals, self.bytes.skip_blanks(sign + 1)))
            })
        })
    }

    /// Matches the values of a list of cookies, as an archive of HTTP requests has it; `end` is the end of the name
    /// `cookies`.
    pub(super) fn match_cookie_list(&mut self, end: usize) {
        let mut at = end + usize::from(matches!(self.bytes.byte(end), b'"' | b'\''));
        at = self.bytes.skip_blanks(at);
        if self.bytes.byte(at) != b':' {
            return;
        }
        at = self.bytes.skip_blanks(at + 1);
        if self.bytes.byte(at) != b'[' {
            return;
        }
        let list = self.bytes.get(at..).unwrap_or_default();
        let list = list.get(..BLOCK_MAX).unwrap_or(list);
        let list = &list[..memchr::memchr(b']', list).unwrap_or(list.len())];
        let values: Vec<_> = memchr::memmem::find_iter(list, b"\"value\"").collect();
        for value in values {
            let Some((_, start)) = self.value_field(at + value) else {
                continue;
            };
            if let Some((range, false)) = self.quoted_literal(start)
                && value_rules::is_cookie("cookie", self.text.get(range.clone()).unwrap_or(""))
            {
                self.push(range.start, range.end, "cookie");
            }
        }
    }
}

/// Returns true if a field name is `end`, or ends with it as a word: `name`, `ParameterKey`, `key_name`.
fn ends_with_word(name: &[u8], end: &[u8]) -> bool {
    let Some(start) = name.len().checked_sub(end.len()) else {
        return false;
    };
    let (before, tail) = name.split_at(start);
    let Some(last) = before.last() else {
        return tail.eq_ignore_ascii_case(end);
    };
    let begins = !last.is_ascii_alphanumeric()
        || (tail[0].is_ascii_uppercase() && last.is_ascii_lowercase());
    end.len() > 1 && begins && tail.eq_ignore_ascii_case(end)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if only blanks are between the start of a line and `at`.
fn is_line_start(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at]
        .iter()
        .rev()
        .find(|b| !matches!(**b, b' ' | b'\t'));
    before == Some(&b'\n')
}

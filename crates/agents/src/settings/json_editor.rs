//! Edits of JSON and JSONC texts that leave the rest of a file unchanged.
//!
//! `jsonc-parser` finds the values, commas and comments. The editor of its feature `cst` is not used: it deletes
//! comments on the line of a removed item, and adds line breaks to an object on one line and removes empty lines.

use super::SettingsError;
use jsonc_parser::ast::Value;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;

/// A parsed text.
pub(super) struct JsonText<'t> {
    text: &'t str,
    /// The value of the whole text.
    pub(super) root: Value<'t>,
    /// All tokens, including comments.
    tokens: Vec<TokenAndRange<'t>>,
}

/// Grammar of JSON with `//` and `/* */` comments and trailing commas.
const JSONC: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Splits a text into its byte order mark, which may be empty, and the rest.
pub(super) fn split_byte_order_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 })
}

/// Returns the last member with this name, which is the one that programs use.
pub(super) fn member<'v, 't>(value: &'v Value<'t>, name: &str) -> Option<&'v Value<'t>> {
    let members = &value.as_object()?.properties;
    let found = members.iter().rev().find(|one| one.name.as_str() == name)?;
    Some(&found.value)
}

/// Returns the items of a list; none for other values.
pub(super) fn items<'v, 't>(value: &'v Value<'t>) -> &'v [Value<'t>] {
    value.as_array().map_or(&[], |list| &list.elements)
}

/// Returns the content of a string.
pub(super) fn string<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    Some(&value.as_string_lit()?.value)
}

impl<'t> JsonText<'t> {
    /// Parses a text without byte order mark; `allows_jsonc` accepts comments and trailing commas.
    pub(super) fn parse(text: &'t str, allows_jsonc: bool) -> Result<Self, SettingsError> {
        let collected = CollectOptions {
            comments: CommentCollectionStrategy::AsTokens,
            tokens: true,
        };
        let parsed = parse_to_ast(text, &collected, &JSONC);
        let parsed = parsed.map_err(|error| convert_error(text, &error))?;
        let tokens = parsed.tokens.unwrap_or_default();
        check_strictly(text, &tokens, allows_jsonc)?;
        let root = parsed.value;
        let root = root.ok_or_else(|| error_at(text, text.len(), "a value is missing"))?;
        Ok(Self { text, root, tokens })
    }

    /// Returns an error with the line of a value.
    pub(super) fn error(&self, value: &Value<'_>, message: &str) -> SettingsError {
        error_at(self.text, value.start(), message)
    }

    /// Returns a value as data; `None` if it has comments.
    pub(super) fn parsed(&self, value: &Value<'_>) -> Option<serde_json::Value> {
        serde_json::from_str(self.text.get(value.start()..value.end())?).ok()
    }

    /// Returns the text with another content of a value.
    pub(super) fn with_replaced(&self, value: &Value<'_>, part: &str) -> String {
        let (head, tail) = (&self.text[..value.start()], &self.text[value.end()..]);
        format!("{head}{part}{tail}")
    }

    /// Returns the text without item `n` of an object or list and its comma. Comments around it stay.
    pub(super) fn without_item(&self, list: &Value<'_>, n: usize) -> String {
        let parts = item_ranges(list);
        let Some(own) = parts.get(n) else {
            return self.text.to_owned();
        };
        let is_first = n == 0;
        let previous = n.checked_sub(1).and_then(|previous| parts.get(previous));
        let comma_before = previous.and_then(|previous| self.comma_after(previous.end));
        let (head_end, between, tail_start) = match (self.comma_after(own.end), comma_before) {
            (Some(comma), _) => (own.start, own.end..comma, comma + 1),
            (None, Some(comma)) => (comma, comma + 1..own.start, own.end),
            (None, None) => (own.start, own.end..own.end, own.end),
        };
        // The blanks before the item are removed, or those after it if it is the first of several.
        let keeps_blanks = is_first && parts.len() > 1;
        let head_end = if keeps_blanks {
            head_end
        } else {
            self.last_end(head_end)
        };
        let between = between.start..self.last_end(between.end).max(between.start);
        let tail_start = if is_first {
            self.first_start(tail_start)
        } else {
            tail_start
        };
        let mut text = String::with_capacity(self.text.len());
        let mut needs_line_break = false;
        for range in [0..head_end, between, tail_start..self.text.len()] {
            let piece = &self.text[range.clone()];
            if piece.is_empty() {
                continue;
            }
            if needs_line_break && !piece.starts_with(['\n', '\r']) {
                text.push_str(self.line_break());
            }
            text.push_str(piece);
            needs_line_break = self.has_line_comment_before(range.end);
        }
        text
    }

    /// Returns the text without the last member of this name.
    pub(super) fn without_member(&self, object: &Value<'_>, name: &str) -> String {
        let members = object.as_object().map_or(&[][..], |one| &one.properties);
        match members.iter().rposition(|one| one.name.as_str() == name) {
            Some(place) => self.without_item(object, place),
            None => self.text.to_owned(),
        }
    }

    /// Returns the text with one more item at the end of an object or list, which is `depth - 1` levels deep. Tabs
    /// that indent `part` are replaced by `unit`.
    pub(super) fn with_appended(
        &self,
        list: &Value<'_>,
        unit: &str,
        depth: usize,
        part: &str,
    ) -> String {
        let indent = unit.repeat(depth);
        let line_break = self.line_break();
        let part = part
            .replace('\t', unit)
            .replace('\n', &format!("{line_break}{indent}"));
        let Some(last) = item_ranges(list).pop() else {
            // Comments in an otherwise empty list stay before the item.
            let close = list.end() - 1;
            let (head, tail) = (&self.text[..self.last_end(close)], &self.text[close..]);
            let closing = unit.repeat(depth - 1);
            return format!("{head}{line_break}{indent}{part}{line_break}{closing}{tail}");
        };
        // A trailing comma stays the trailing one.
        let (from, leads, trails) = match self.comma_after(last.end) {
            Some(comma) => (comma + 1, "", ","),
            None => (last.end, ",", ""),
        };
        // A comment after the last item on its line belongs to that item.
        let mut end = from;
        for next in self.tokens_from(from) {
            if !is_comment(next) || self.text[end..next.range.start].contains('\n') {
                break;
            }
            end = next.range.end;
        }
        let (head, comments, tail) = (&self.text[..from], &self.text[from..end], &self.text[end..]);
        format!("{head}{leads}{comments}{line_break}{indent}{part}{trails}{tail}")
    }

    /// Returns the line break of the text: that of its first line.
    fn line_break(&self) -> &'static str {
        let first = self.text.find('\n').map(|at| &self.text[..at]);
        if first.is_some_and(|line| line.ends_with('\r')) {
            "\r\n"
        } else {
            "\n"
        }
    }

    fn tokens_from(&self, at: usize) -> &[TokenAndRange<'t>] {
        let first = self.tokens.partition_point(|one| one.range.start < at);
        self.tokens.get(first..).unwrap_or_default()
    }

    fn token_before(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        let next = self.tokens.partition_point(|one| one.range.end <= at);
        self.tokens.get(next.checked_sub(1)?)
    }

    /// Returns the offset of the comma after an item that ends at `at`.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let next = self.tokens_from(at).iter().find(|one| !is_comment(one))?;
        (next.token == Token::Comma).then_some(next.range.start)
    }

    /// Returns the end of the last token before `at`.
    fn last_end(&self, at: usize) -> usize {
        self.token_before(at).map_or(0, |last| last.range.end)
    }

    /// Returns the start of the first token from `at`.
    fn first_start(&self, at: usize) -> usize {
        let first = self.tokens_from(at).first();
        first.map_or(self.text.len(), |first| first.range.start)
    }

    fn has_line_comment_before(&self, at: usize) -> bool {
        self.token_before(at)
            .is_some_and(|last| last.range.end == at && matches!(last.token, Token::CommentLine(_)))
    }
}

/// Returns the ranges of the items; members include their names.
fn item_ranges(list: &Value<'_>) -> Vec<Range> {
    match list.as_object() {
        Some(object) => object.properties.iter().map(Ranged::range).collect(),
        None => items(list).iter().map(Ranged::range).collect(),
    }
}

fn is_comment(one: &TokenAndRange<'_>) -> bool {
    matches!(one.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Refuses what the parser accepts and the programs do not, for example a line break in a string.
fn check_strictly(
    text: &str,
    tokens: &[TokenAndRange<'_>],
    allows_jsonc: bool,
) -> Result<(), SettingsError> {
    let mut json = text.as_bytes().to_vec();
    let mut last = None;
    for one in tokens {
        let mut blanks = None;
        if is_comment(one) {
            if !allows_jsonc {
                let message = "a comment, which this program does not accept";
                return Err(error_at(text, one.range.start, message));
            }
            // A lone carriage return ends a line comment for the parser and not for the programs.
            let rest = &text[one.range.end..];
            let is_line = matches!(one.token, Token::CommentLine(_));
            if is_line && rest.starts_with('\r') && !rest.starts_with("\r\n") {
                let message = "a carriage return without a line feed ends a comment";
                return Err(error_at(text, one.range.end, message));
            }
            blanks = Some(one.range);
        } else {
            if allows_jsonc && matches!(one.token, Token::CloseBrace | Token::CloseBracket) {
                blanks = last.filter(|range: &Range| text[range.start..].starts_with(','));
            }
            last = Some(one.range);
        }
        let blanks = blanks.and_then(|range| json.get_mut(range.start..range.end));
        for byte in blanks.into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    match serde_json::from_slice::<IgnoredAny>(&json) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Err(SettingsError {
                line: error.line(),
                message: message.to_owned(),
            })
        }
    }
}

fn convert_error(text: &str, error: &ParseError) -> SettingsError {
    let range = error.range();
    // Without its end, an object or list is reported where the end is missing.
    let is_unterminated = matches!(
        error.kind(),
        ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray
    );
    let at = if is_unterminated {
        range.end
    } else {
        range.start
    };
    let mut message = error.kind().to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    error_at(text, at, &message)
}

fn error_at(text: &str, at: usize, message: &str) -> SettingsError {
    let before = text.as_bytes().iter().take(at);
    SettingsError {
        line: before.filter(|byte| **byte == b'\n').count() + 1,
        message: message.to_owned(),
    }
}

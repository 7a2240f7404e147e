//! Secrets in headers whose value has a structure: `Authorization` and cookies.

use super::scan::{Scanner, mark_end};
use super::secret_names::SecretNameKind;
use super::value_rules::{self, ValueSyntax};
use super::value_shape;

/// Number of bytes of a cookie list that are inspected; the list is redacted as a whole.
const COOKIES_MAX: usize = 1_024;

impl Scanner<'_> {
    /// Matches `Authorization: SCHEME SECRET`.
    pub(super) fn match_authorization(&mut self, syntax: ValueSyntax, at: usize) {
        if !matches!(
            syntax,
            ValueSyntax::Equals | ValueSyntax::Tight | ValueSyntax::Colon
        ) {
            return;
        }
        let (region, quoted) = match self.quoted_literal(at) {
            Some((range, _)) => (range, true),
            None => (at..self.line_end(at), false),
        };
        let Some(text) = self.text.get(region.clone()) else {
            return;
        };
        let ends = |c: char| c.is_whitespace() || "\"'`,;\\<>".contains(c);
        let first = text.split(ends).next().unwrap_or("");
        let scheme = first.len() <= 20
            && !first.is_empty()
            && first.starts_with(|c: char| c.is_ascii_alphabetic())
            && text[first.len()..].starts_with([' ', '\t']);
        let (start, secret) = if scheme {
            let rest = &text[first.len()..];
            let start = first.len() + (rest.len() - rest.trim_start().len());
            (start, text.get(start..).unwrap_or(""))
        } else {
            (0, text)
        };
        // Schemes with parameters have the secret in one of the parameters.
        let whole = scheme && (first.eq_ignore_ascii_case("digest") || first.contains('-'));
        let secret = if whole && secret.contains('=') {
            secret
                .split(['"', '\'', '`'])
                .next()
                .unwrap_or("")
                .trim_end()
        } else {
            secret.split(ends).next().unwrap_or("")
        };
        if value_rules::is_credential(secret, scheme, quoted) {
            let start = region.start + start;
            self.push(
                start,
                start + secret.len(),
                SecretNameKind::Authorization.kind(),
            );
        }
    }

    /// Matches `Cookie: a=b; c=d`, or one cookie with its attributes.
    pub(super) fn match_cookie(
        &mut self,
        name_kind: SecretNameKind,
        syntax: ValueSyntax,
        name: usize,
        at: usize,
    ) {
        let quoted = self.quoted_literal(at);
        let region = match (syntax, quoted) {
            (
                ValueSyntax::Colon | ValueSyntax::Equals | ValueSyntax::Tight | ValueSyntax::Option,
                Some((range, _)),
            ) => range,
            (ValueSyntax::Colon | ValueSyntax::Option, None) => {
                let end = self.line_end(at);
                let opened = name.checked_sub(1).map_or(0, |at| self.bytes[at]);
                let line = &self.bytes[at.min(end)..end];
                // A header in a string literal ends with the literal.
                let length = match opened {
                    b'"' | b'\'' | b'`' => memchr::memchr(opened, line),
                    _ => None,
                };
                at..at + length.unwrap_or(line.len())
            }
            _ => return,
        };
        let Some(text) = self.text.get(region.clone()) else {
            return;
        };
        if mark_end(self.bytes, region.start).is_some() {
            return;
        }
        if name_kind == SecretNameKind::SetCookie {
            let first = text.split(';').next().unwrap_or("");
            if let Some((key, value)) = first.split_once('=')
                && value_rules::is_cookie(key, value)
            {
                let start = region.start + key.len() + 1;
                self.push(start, start + value.len(), name_kind.kind());
            }
            return;
        }
        let mut pairs = value_shape::prefix(text, COOKIES_MAX)
            .split(';')
            .filter_map(|pair| pair.split_once('='));
        if pairs.any(|(key, value)| value_rules::is_cookie(key, value)) {
            let end = region.start + text.trim_end().len();
            self.push(region.start, end, name_kind.kind());
        }
    }
}

//! Headers whose value is more than a word: `Authorization` and cookies.

use super::names::Telling;
use super::scan::{Scan, mark_end};
use super::shape;
use super::values::{self, Link};

/// Bytes of a list of cookies that are looked at to see whether it is one; it is redacted whole.
const COOKIES_MAX: usize = 1_024;

impl Scan<'_> {
    /// `Authorization: SCHEME SECRET`.
    pub(super) fn authorization(&mut self, link: Link, at: usize) {
        if !matches!(link, Link::Equals | Link::Tight | Link::Colon) {
            return;
        }
        let (region, quoted) = match self.quoted(at) {
            Some((range, _)) => (range, true),
            None => (at..self.line_end(at), false),
        };
        let Some(said) = self.text.get(region.clone()) else {
            return;
        };
        let ends = |c: char| c.is_whitespace() || "\"'`,;\\<>".contains(c);
        let first = said.split(ends).next().unwrap_or("");
        let scheme = first.len() <= 20
            && !first.is_empty()
            && first.starts_with(|c: char| c.is_ascii_alphabetic())
            && said[first.len()..].starts_with([' ', '\t']);
        let (start, secret) = if scheme {
            let rest = &said[first.len()..];
            let start = first.len() + (rest.len() - rest.trim_start().len());
            (start, said.get(start..).unwrap_or(""))
        } else {
            (0, said)
        };
        // Schemes with parameters keep the secret in one of them.
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
        if values::is_credential(secret, scheme, quoted) {
            let start = region.start + start;
            self.push(start, start + secret.len(), Telling::Authorization.kind());
        }
    }

    /// `Cookie: a=b; c=d`, or one cookie with its attributes.
    pub(super) fn cookie(&mut self, telling: Telling, link: Link, name: usize, at: usize) {
        let quoted = self.quoted(at);
        let region = match (link, quoted) {
            (Link::Colon | Link::Equals | Link::Tight | Link::Option, Some((range, _))) => range,
            (Link::Colon | Link::Option, None) => {
                let end = self.line_end(at);
                let opened = name.checked_sub(1).map_or(0, |at| self.bytes[at]);
                let line = &self.bytes[at.min(end)..end];
                // A header that stands in a string ends with it.
                let length = match opened {
                    b'"' | b'\'' | b'`' => memchr::memchr(opened, line),
                    _ => None,
                };
                at..at + length.unwrap_or(line.len())
            }
            _ => return,
        };
        let Some(said) = self.text.get(region.clone()) else {
            return;
        };
        if mark_end(self.bytes, region.start).is_some() {
            return;
        }
        if telling == Telling::SetCookie {
            let first = said.split(';').next().unwrap_or("");
            if let Some((key, value)) = first.split_once('=')
                && values::is_cookie(key, value)
            {
                let start = region.start + key.len() + 1;
                self.push(start, start + value.len(), telling.kind());
            }
            return;
        }
        let mut pairs = shape::beginning(said, COOKIES_MAX)
            .split(';')
            .filter_map(|pair| pair.split_once('='));
        if pairs.any(|(key, value)| values::is_cookie(key, value)) {
            let end = region.start + said.trim_end().len();
            self.push(region.start, end, telling.kind());
        }
    }
}

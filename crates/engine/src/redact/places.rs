//! Secrets that stand at a known place: in a URL, behind `Bearer`, in options of commands.

use super::scan::Scan;
use super::shape;

/// Longest way from a command to its option.
const COMMAND_MAX: usize = 2_000;

impl Scan<'_> {
    /// `scheme://user:PASSWORD@host`, with the anchor at `://`.
    pub(super) fn url(&mut self, at: usize) {
        if at == 0 || !self.bytes[at - 1].is_ascii_alphanumeric() {
            return;
        }
        let start = at + 3;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'`<>\\,;".contains(b);
        let length = rest.iter().take_while(|b| !ends(b)).count();
        let authority = &rest[..length];
        let (Some(colon), Some(host)) = (
            memchr::memchr(b':', authority),
            memchr::memrchr(b'@', authority),
        ) else {
            return;
        };
        if colon < host {
            self.password_at(start + colon + 1, start + host, "url-password");
        }
    }

    /// `curl -u name:PASSWORD`, with the anchor at `-u`.
    pub(super) fn user_option(&mut self, at: usize) {
        let short = self.byte(at + 2) == b' ' && at > 0 && self.byte(at - 1) == b' ';
        let long = at > 0 && self.byte(at - 1) == b'-' && self.says(at, b"-user");
        let behind = at + if long { 5 } else { 2 };
        if !(short || long) || !matches!(self.byte(behind), b' ' | b'=') {
            return;
        }
        if !self.of_command(self.curl, at) {
            return;
        }
        let start = self.skip_blanks(behind + 1);
        let quote = Some(self.byte(start)).filter(|b| matches!(b, b'"' | b'\''));
        let start = start + usize::from(quote.is_some());
        let rest = self.bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..COMMAND_MAX).unwrap_or(rest);
        let ends = |b: &u8| match quote {
            Some(quote) => *b == quote || *b == b'\n',
            None => b.is_ascii_whitespace() || b"\"'`\\".contains(b),
        };
        let length = rest.iter().take_while(|b| !ends(b)).count();
        if let Some(colon) = memchr::memchr(b':', &rest[..length]) {
            self.password_at(start + colon + 1, start + length, "password");
        }
    }

    /// `mysql -pPASSWORD`, with the anchor at the blank before the option.
    pub(super) fn password_option(&mut self, at: usize) {
        if !self.of_command(self.mysql, at) {
            return;
        }
        let start = at + 3;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..COMMAND_MAX).unwrap_or(rest);
        let length = rest
            .iter()
            .take_while(|b| !b.is_ascii_whitespace() && !b"\"'`\\;|".contains(b))
            .count();
        let Some(value) = self.text.get(start..start + length) else {
            return;
        };
        let made_up = shape::Shape::of(value);
        if made_up.mixed() || made_up.odd > 0 {
            self.password_at(start, start + length, "password");
        }
    }

    /// `IDENTIFIED BY 'PASSWORD'`, with the anchor at `IED`.
    pub(super) fn identified_by(&mut self, at: usize) {
        let Some(start) = at.checked_sub(7) else {
            return;
        };
        if !self.word_at(start, b"identified by ") {
            return;
        }
        let start = self.skip_blanks(start + 14);
        if self.byte(start) != b'\'' {
            return;
        }
        let end = self.line_end(start);
        if let Some(length) = memchr::memchr(b'\'', &self.bytes[start + 1..end.max(start + 1)]) {
            self.password_at(start + 1, start + 1 + length, "password");
        }
    }

    /// `Bearer TOKEN` outside of a header.
    pub(super) fn bearer(&mut self, at: usize) {
        if !self.word_at(at, b"bearer") || !matches!(self.byte(at + 6), b' ' | b'\t') {
            return;
        }
        let start = self.skip_blanks(at + 6);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || b"._~+/=-".contains(b))
            .count();
        let value = self.text.get(start..start + length).unwrap_or("");
        let value = value.trim_end_matches('.');
        if value.len() >= 16 && !shape::placeholder(value) && shape::generated(value, 3.0) {
            self.push(start, start + value.len(), "bearer-token");
        }
    }

    /// Notes a password that stands where nothing else can, unless it stands for one.
    fn password_at(&mut self, start: usize, end: usize, kind: &'static str) {
        let value = self.text.get(start..end).unwrap_or("");
        if value.len() >= 3 && !shape::placeholder(value) && !shape::word(value) {
            self.push(start, end, kind);
        }
    }

    /// Whether an option belongs to the command: on its line, or on one that goes on.
    fn of_command(&self, command: Option<usize>, option: usize) -> bool {
        let Some(command) = command.filter(|&at| option - at <= COMMAND_MAX) else {
            return false;
        };
        let between = &self.bytes[command..option];
        memchr::memchr_iter(b'\n', between).all(|n| between[..n].trim_ascii_end().ends_with(b"\\"))
    }
}

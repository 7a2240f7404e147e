//! Secrets at known positions: in a URL, after `Bearer`, in options of commands.

use super::commands::CommandScan;
use super::scan::Scanner;
use super::text_bytes::TextBytes as _;
use super::value_shape;

/// Maximum distance in bytes from a command to its option.
const COMMAND_MAX: usize = 2_000;

/// Minimum length of a token in a URL, and of the key of a link, in bytes.
const URL_TOKEN_MIN: usize = 10;
const LINK_KEY_MIN: usize = 16;

impl Scanner<'_> {
    /// Matches `scheme://user:PASSWORD@host`, with the anchor at `://`.
    pub(super) fn match_url(&mut self, at: usize) {
        if at == 0 || !self.bytes[at - 1].is_ascii_alphanumeric() {
            return;
        }
        let start = at + 3;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let ends = |b: &u8| b.is_ascii_whitespace() || b"/?#\"'`<>\\,;".contains(b);
        let length = rest.iter().take_while(|b| !ends(b)).count();
        let authority = &rest[..length];
        let colon = memchr::memchr(b':', authority);
        match (colon, memchr::memrchr(b'@', authority)) {
            (Some(colon), Some(host)) if colon < host => {
                self.push_password(start + colon + 1, start + host, "url-password");
            }
            (_, Some(host)) => self.push_url_token(start..start + host),
            (_, None) => self.match_secret_link(start + length),
        }
    }

    /// Adds a token in place of the user of a URL: `https://TOKEN@host`.
    fn push_url_token(&mut self, user: std::ops::Range<usize>) {
        let text = self.text.get(user.clone()).unwrap_or("");
        // Signs of a token are percent-encoded here.
        let plain = text.replace('%', "");
        if text.len() >= URL_TOKEN_MIN
            && value_shape::is_generated(&plain, 3.0)
            && !value_shape::is_placeholder(text)
        {
            self.push(user.start, user.end, "url-token");
        }
    }

    /// Matches a link that shows a secret once: `https://host/secret/KEY`, with `at` at the end of the host.
    fn match_secret_link(&mut self, at: usize) {
        const FOLDERS: [&[u8]; 6] = [
            b"secret",
            b"private",
            b"one-time",
            b"onetime",
            b"reset-password",
            b"magic-link",
        ];
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..COMMAND_MAX).unwrap_or(rest);
        let ends = |b: &u8| b.is_ascii_whitespace() || b"?\"'`<>\\,;)]".contains(b);
        let path = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        let mut from = 0;
        let mut about = false;
        for part in path.split(|b| matches!(b, b'/' | b'#')) {
            let text = self
                .text
                .get(at + from..at + from + part.len())
                .unwrap_or("");
            let text = text.trim_end_matches('.');
            if about && text.len() >= LINK_KEY_MIN && value_shape::is_generated(text, 3.0) {
                return self.push(at + from, at + from + text.len(), "secret-link");
            }
            about = FOLDERS
                .iter()
                .any(|folder| part.eq_ignore_ascii_case(folder))
                || (about && part.len() <= 3);
            from += part.len() + 1;
        }
    }

    /// Records the offset of the command `curl`, whose options may hold secrets.
    pub(super) fn note_curl(&mut self, at: usize) {
        if self.bytes.has_word_at(at, b"curl") {
            self.last_curl = Some(at);
        }
    }

    /// Records the offset of the command `mysql`, with the anchor at its second letter.
    pub(super) fn note_mysql(&mut self, at: usize) {
        if at > 0 && self.bytes.has_word_at(at - 1, b"mysql") {
            self.last_mysql = Some(at);
        }
    }

    /// Matches `curl -u name:PASSWORD`, with the anchor at `-u`.
    pub(super) fn match_user_option(&mut self, at: usize) {
        let short = self.bytes.byte(at + 2) == b' ' && at > 0 && self.bytes.byte(at - 1) == b' ';
        let proxy = at >= 5 && self.bytes.has_text_at(at - 5, b"proxy-user");
        let long =
            (at > 0 && self.bytes.byte(at - 1) == b'-' && self.bytes.has_text_at(at, b"-user"))
                || proxy;
        let after = at + if long { 5 } else { 2 };
        if !(short || long) || !matches!(self.bytes.byte(after), b' ' | b'=') {
            return;
        }
        if !self.is_option_of(self.last_curl, at) {
            return;
        }
        let start = self.bytes.skip_blanks(after + 1);
        let Some(word) = ShellWord::read(self.bytes, start) else {
            return;
        };
        let (from, to) = word.password();
        let value = self.text.get(from..to).unwrap_or("");
        if value.is_empty() {
            // Some services take the key as the user name.
            let (from, to) = word.user();
            let name = self.text.get(from..to).unwrap_or("");
            let made = value_shape::ValueShape::of(name);
            if made.length >= 8
                && made.has_letters_and_digits()
                && (made.odd > 0 || !value_shape::is_wordy(name))
            {
                self.push_password(from, to, "password");
            }
        } else if let Some(inner) = value.strip_prefix('{').and_then(|v| v.strip_suffix('}'))
            && value_shape::is_generated(inner, 3.0)
        {
            self.push(from, to, "password");
        } else {
            self.push_password(from, to, "password");
        }
    }

    /// Matches `mysql -pPASSWORD`, with the anchor at the blank before the option.
    pub(super) fn match_password_option(&mut self, at: usize) {
        if !self.is_option_of(self.last_mysql, at) && !CommandScan(self).takes_attached_password(at)
        {
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
        let made_up = value_shape::ValueShape::of(value);
        if made_up.has_letters_and_digits() || made_up.odd > 0 {
            self.push_password(start, start + length, "password");
        }
    }

    /// Returns the offset of the password in `sshpass -p PASSWORD`, where `name` is the command and `at` its option.
    pub(super) fn sshpass_password(
        &self,
        name: &std::ops::Range<usize>,
        at: usize,
    ) -> Option<usize> {
        let command = self.text.get(name.clone())?;
        let is_option =
            command.eq_ignore_ascii_case("sshpass") && self.bytes.has_text_at(at, b"-p");
        is_option.then(|| self.bytes.skip_blanks(at + 2))
    }

    /// Matches `IDENTIFIED BY 'PASSWORD'`, with the anchor at `IED`.
    pub(super) fn match_identified_by(&mut self, at: usize) {
        let Some(start) = at.checked_sub(7) else {
            return;
        };
        if !self.bytes.has_word_at(start, b"identified by ") {
            return;
        }
        let start = self.bytes.skip_blanks(start + 14);
        let quote = self.bytes.byte(start);
        if !matches!(quote, b'\'' | b'"') {
            return;
        }
        let end = self.line_end(start);
        if let Some(length) = memchr::memchr(quote, &self.bytes[start + 1..end.max(start + 1)]) {
            self.push_password(start + 1, start + 1 + length, "password");
        }
    }

    /// Matches `Bearer TOKEN` outside of a header.
    pub(super) fn match_bearer(&mut self, at: usize) {
        if !matches!(self.bytes.byte(at + 6), b' ' | b'\t')
            || !self.bytes.has_word_at(at, b"bearer")
        {
            // `bearer` may also be a name: `bearer: …`.
            if self.bytes.has_text_at(at, b"bearer") {
                self.check_name(at);
            }
            return;
        }
        let start = self.bytes.skip_blanks(at + 6);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || b"._~+/=-".contains(b))
            .count();
        let value = self.text.get(start..start + length).unwrap_or("");
        let value = value.trim_end_matches('.');
        if value.len() >= 16
            && !value_shape::is_placeholder(value)
            && value_shape::is_generated(value, 3.0)
        {
            self.push(start, start + value.len(), "bearer-token");
        }
    }

    /// Matches `facebook NUMBER|TOKEN`, with the anchor inside of the name.
    pub(super) fn match_facebook(&mut self, at: usize) {
        if at < 2 || !self.bytes.has_text_at(at - 2, b"facebook") {
            return;
        }
        let start = self.bytes.skip_blanks(at + 6);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..64).unwrap_or(rest);
        let token = |b: &u8| b.is_ascii_alphanumeric() || b"_-|".contains(b);
        let length = rest.iter().take_while(|b| token(b)).count();
        let value = self.text.get(start..start + length).unwrap_or("");
        if value.contains('|') && value_shape::is_generated(value, 3.5) {
            self.push(start, start + length, "facebook-token");
        }
    }

    /// Matches the number of an application and its token, with the anchor at the last two digits.
    pub(super) fn match_number_pair(&mut self, at: usize) {
        let is_digit = |b: &&u8| b.is_ascii_digit();
        let before = self
            .bytes
            .get(at.saturating_sub(16)..at)
            .unwrap_or_default();
        let digits = before.iter().rev().take_while(is_digit).count();
        let rest = self.bytes.get(at + 3..).unwrap_or_default();
        let inner = |b: &&u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
        let length = rest.iter().take(41).take_while(inner).count();
        let (start, end) = (at - digits, at + 3 + length);
        let begins = self.begins_word(start);
        let value = self.text.get(start..end).unwrap_or("");
        if begins
            && value_shape::is_pair(value)
            && value_shape::is_generated(&value[digits + 3..], 3.5)
        {
            self.push(start, end, "facebook-token");
        }
    }

    /// Matches `SK` and 32 hexadecimal digits.
    pub(super) fn match_twilio(&mut self, at: usize) {
        let begins = self.begins_word(at);
        let rest = self.bytes.get(at..).unwrap_or_default();
        let Some(digits) = rest
            .get(2..34)
            .filter(|_| begins && rest.starts_with(b"SK"))
        else {
            return;
        };
        let goes_on = rest.get(34).is_some_and(u8::is_ascii_alphanumeric);
        if digits.iter().all(u8::is_ascii_hexdigit) && !goes_on {
            let digits_text = &self.text[at + 2..at + 34];
            if value_shape::has_random_part(digits_text) {
                self.push(at, at + 34, "twilio-key");
            }
        }
    }

    /// Matches `s.` and 24 letters and digits.
    pub(super) fn match_old_vault(&mut self, at: usize) {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let Some(value) = rest.get(2..26).filter(|_| rest.starts_with(b"s.")) else {
            return;
        };
        let goes_on = rest
            .get(26)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        if goes_on || !value.iter().all(u8::is_ascii_alphanumeric) {
            return;
        }
        let value = self.text.get(at + 2..at + 26).unwrap_or("");
        let made = value_shape::ValueShape::of(value);
        if made.has_letters_and_digits()
            && value_shape::is_generated(value, 3.5)
            && !value_shape::is_placeholder(value)
        {
            self.push(at, at + 26, "vault-token");
        }
    }

    /// Adds a password at a position where only a password can be, unless it is a placeholder.
    fn push_password(&mut self, start: usize, end: usize, kind: &'static str) {
        let value = self.text.get(start..end).unwrap_or("");
        if value.len() >= 3
            && !value_shape::is_placeholder(value)
            && !value_shape::is_known_word(value)
        {
            self.push(start, end, kind);
        }
    }

    /// Returns true if an option belongs to the command: on its line, or on a continued line.
    fn is_option_of(&self, command: Option<usize>, option: usize) -> bool {
        let Some(command) = command.filter(|&at| option - at <= COMMAND_MAX) else {
            return false;
        };
        let between = &self.bytes[command..option];
        memchr::memchr_iter(b'\n', between).all(|n| between[..n].trim_ascii_end().ends_with(b"\\"))
    }
}

/// Word `name:password` of a shell command; each part may have quotes.
struct ShellWord<'t> {
    bytes: &'t [u8],
    start: usize,
    /// Offset of the first colon.
    colon: usize,
    end: usize,
}

impl<'t> ShellWord<'t> {
    /// Reads the word that begins at `start`; `None` if it has no colon.
    fn read(bytes: &'t [u8], start: usize) -> Option<Self> {
        let rest = bytes.get(start..).unwrap_or_default();
        let rest = rest.get(..COMMAND_MAX).unwrap_or(rest);
        let (mut open, mut colon, mut end) = (None, None, 0);
        for (n, &byte) in rest.iter().enumerate() {
            match (open, byte) {
                (_, b'\n') => break,
                (None, b'"' | b'\'') if n == 0 || rest[n - 1] == b':' => open = Some(byte),
                (None, b'"' | b'\'') => break,
                (None, b' ' | b'\t' | b'\r' | b'`' | b'\\') => break,
                (Some(quote), _) if byte == quote => open = None,
                (_, b':') if colon.is_none() => colon = Some(start + n),
                _ => {}
            }
            end = n + 1;
        }
        Some(Self {
            bytes,
            start,
            colon: colon?,
            end: start + end,
        })
    }

    /// Returns the range of the name before the colon, without its quotes.
    fn user(&self) -> (usize, usize) {
        self.unquoted(self.start, self.colon)
    }

    /// Returns the range of the password after the colon, without its quotes.
    fn password(&self) -> (usize, usize) {
        self.unquoted(self.colon + 1, self.end)
    }

    /// Removes the quotes around a part of the word.
    fn unquoted(&self, start: usize, end: usize) -> (usize, usize) {
        let quote = |at: usize| matches!(self.bytes.byte(at), b'"' | b'\'');
        let from = start + usize::from(start < end && quote(start));
        let to = end - usize::from(from < end && quote(end - 1));
        (from, to)
    }
}

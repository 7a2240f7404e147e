//! Secrets in the arguments of known commands: options without a telling name, positions, and piped input.

mod secret_options;

use super::scan::Scanner;
use super::secret_names::SecretNameKind;
use super::text_bytes::TextBytes as _;
use super::value_rules::ValueSyntax;
use super::value_shape::{self, ValueShape};
use secret_options::{Argument, OPTIONS, SecretOption};
use std::ops::{Deref, DerefMut, Range};

/// Maximum distance in bytes from a command to its option.
const COMMAND_MAX: usize = 400;
/// Maximum length of an argument in bytes.
const ARGUMENT_MAX: usize = 512;

/// Words in front of a name whose value follows after a blank.
pub(super) const SETTERS: [&[u8]; 10] = [
    b"#define",
    b"set",
    b"setx",
    b"put",
    b"add",
    b"define",
    b"create",
    b"config:set",
    b"setenv",
    b"-name",
];
/// Bytes, and lines, before a password in which the line of its user is searched.
const LOGIN_BYTES_MAX: usize = 512;
const LOGIN_LINES_MAX: usize = 4;
/// Bytes after a name in which the option with its value is searched.
const COMMAND_REST_MAX: usize = 512;
/// Maximum length of a word in front of a name, in bytes.
const WORD_MAX: usize = 64;

/// Scan of the arguments of commands.
pub(super) struct CommandScan<'s, 't>(pub(super) &'s mut Scanner<'t>);

impl<'t> Deref for CommandScan<'_, 't> {
    type Target = Scanner<'t>;

    fn deref(&self) -> &Scanner<'t> {
        self.0
    }
}

impl<'t> DerefMut for CommandScan<'_, 't> {
    fn deref_mut(&mut self) -> &mut Scanner<'t> {
        self.0
    }
}

impl<'t> CommandScan<'_, 't> {
    /// Matches an option of a command that takes a secret, with the anchor at the blank before it.
    pub(super) fn match_command_option(&mut self, at: usize) {
        let next = self.bytes.byte(at + 3);
        if !matches!(next, b' ' | b'=') && !self.bytes.has_text_at(at, b" -pw") {
            return;
        }
        let word = self.argument_at(at + 1);
        let Some(text) = self.text.get(word.clone()) else {
            return;
        };
        let name = text.split('=').next().unwrap_or(text);
        if !OPTIONS.iter().any(|known| known.option == name) {
            return;
        }
        let Some((command, rest)) = self.command_before(at) else {
            return;
        };
        let line = self.text.get(rest..at).unwrap_or("");
        let fits = |known: &&SecretOption| {
            known.option == name
                && known.commands.contains(&command)
                && (known.with.is_empty() || line.split_whitespace().any(|word| word == known.with))
        };
        let Some(known) = OPTIONS.iter().find(fits) else {
            return;
        };
        let argument = known.argument;
        let value = match name.len() < text.len() {
            true => word.start + name.len() + 1..word.end,
            false => self.argument_at(self.bytes.skip_blanks(word.end)),
        };
        match argument {
            Argument::Secret => self.push_argument(value),
            Argument::Pair(sign) => {
                let pair = &self.bytes[value.clone()];
                if let Some(n) = memchr::memchr(sign, pair) {
                    self.push_argument(value.start + n + 1..value.end);
                }
            }
            Argument::Input => {
                if let Some(value) = self.piped_literal(at) {
                    self.push_argument(value);
                }
            }
        }
    }

    /// Returns true if the option at `at` belongs to a command whose password follows `-p` without a blank.
    pub(super) fn takes_attached_password(&self, at: usize) -> bool {
        let command = self.command_before(at).map(|(command, _)| command);
        matches!(
            command,
            Some("7z" | "7za" | "7zz" | "rar" | "unrar" | "sshpass")
        )
    }

    /// Matches `net user NAME SECRET /add`, with the anchor at `/add`.
    pub(super) fn match_net_user(&mut self, at: usize) {
        let Some((command, rest)) = self.command_before(at) else {
            return;
        };
        if !command.eq_ignore_ascii_case("net") && !command.eq_ignore_ascii_case("net.exe") {
            return;
        }
        self.push_positional(rest, at, |words| {
            (words.first()?.eq_ignore_ascii_case("user")).then_some(2)
        });
    }

    /// Matches `vault login SECRET` and other commands with a secret at a position, with the anchor inside of the
    /// command or its verb.
    pub(super) fn match_positional(&mut self, at: usize) {
        let line_end = self.line_end(at);
        let Some((command, rest)) = self.command_around(at) else {
            return;
        };
        let command = command.to_owned();
        self.push_positional(rest, line_end, move |words| {
            match (command.as_str(), words) {
                ("vault", ["login", ..]) => Some(1),
                ("cargo", ["login", ..]) => Some(1),
                ("mysqladmin", words) => words
                    .iter()
                    .position(|word| *word == "password")
                    .map(|n| n + 1),
                ("rabbitmqctl", [verb, ..])
                    if ["add_user", "change_password", "authenticate_user"].contains(verb) =>
                {
                    Some(2)
                }
                ("wpa_passphrase", _) => Some(1),
                ("htpasswd", [option, ..]) if option.starts_with('-') && option.contains('b') => {
                    Some(if option.contains('n') { 2 } else { 3 })
                }
                ("mosquitto_passwd", ["-b", ..]) => Some(3),
                ("rclone", ["obscure", ..]) => Some(1),
                ("composer", ["config", key, ..]) if key.starts_with("http-basic") => Some(3),
                _ => None,
            }
        });
    }

    /// Matches `U/SECRET@db` of Oracle's commands and addresses, with the anchor inside of the command.
    pub(super) fn match_oracle(&mut self, at: usize) {
        const WORDS: [(usize, &[u8]); 4] = [
            (2, b"sqlplus "),
            (1, b"expdp "),
            (1, b"impdp "),
            (0, b"jdbc:oracle:"),
        ];
        let is_here = |(before, word): &(usize, &[u8])| {
            at.checked_sub(*before)
                .is_some_and(|at| self.bytes.has_text_at(at, word))
        };
        if !WORDS.iter().any(is_here) {
            return;
        }
        let end = self.line_end(at);
        let rest = self.bytes.get(at..end).unwrap_or_default();
        let rest = rest.get(..ARGUMENT_MAX).unwrap_or(rest);
        let Some(host) = memchr::memchr(b'@', rest) else {
            return;
        };
        let word = rest[..host]
            .iter()
            .rposition(|b| b.is_ascii_whitespace() || b":\"'".contains(b));
        let start = word.map_or(0, |n| n + 1);
        let Some(slash) = memchr::memchr(b'/', &rest[start..host]) else {
            return;
        };
        let user = &rest[start..start + slash];
        let named = !user.is_empty()
            && user
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"_$#".contains(b));
        let secret = self
            .text
            .get(at + start + slash + 1..at + host)
            .unwrap_or("");
        if named
            && secret.len() >= 3
            && !value_shape::is_placeholder(secret)
            && !secret.contains('/')
        {
            self.push(at + start + slash + 1, at + host, "password");
        }
    }

    /// Matches a line of a password file of PostgreSQL, `host:5432:database:user:SECRET`, with the anchor at the colon
    /// before the port.
    pub(super) fn match_pgpass(&mut self, at: usize) {
        let port = &self.bytes[at + 1..];
        let digits = port
            .iter()
            .take(6)
            .take_while(|b| b.is_ascii_digit() || **b == b'*')
            .count();
        if digits == 0 || self.bytes.byte(at + 1 + digits) != b':' {
            return;
        }
        let before = self
            .bytes
            .get(at.saturating_sub(ARGUMENT_MAX)..at)
            .unwrap_or_default();
        let host = before
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric() || b"_.-*/".contains(b))
            .count();
        let begins = host > 0
            && (host == at || matches!(self.bytes[at - host - 1], b'\n' | b'"' | b'\'' | b' '));
        let end = self.line_end(at);
        let rest = self.text.get(at + 2 + digits..end).unwrap_or("");
        let mut fields = rest.splitn(3, ':');
        let (database, user) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let Some(secret) = fields.next().filter(|_| begins) else {
            return;
        };
        let named = |name: &str| !name.is_empty() && !name.contains([' ', '/', '"']);
        let length = secret.find([' ', '"', '\'', '>']).unwrap_or(secret.len());
        if named(database) && named(user) && length >= 4 {
            let start = end - secret.len();
            self.push_argument(start..start + length);
        }
    }

    /// Returns the literal that is piped into the command at `at`: `echo … | command`.
    pub(super) fn piped_literal(&self, at: usize) -> Option<Range<usize>> {
        let from = at.saturating_sub(COMMAND_MAX);
        let before = self.bytes.get(from..at)?;
        let line = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |n| n + 1);
        let before = &before[line..];
        let pipe = memchr::memrchr(b'|', before)?;
        let first = before[..pipe]
            .iter()
            .rposition(|b| b";&(".contains(b))
            .map_or(0, |n| n + 1);
        let part = before.get(first..pipe)?;
        let start = from + line + first;
        let echo = [&b"echo "[..], b"printf "]
            .iter()
            .find_map(|word| memchr::memmem::rfind(part, word).map(|at| at + word.len()))?;
        let end = start + echo + part[echo..].trim_ascii_end().len();
        // Options, and the format of `printf`, come before the text.
        let words = part[echo..].trim_ascii_end();
        let last = match words.last() {
            Some(quote @ (b'"' | b'\'')) => {
                words[..words.len() - 1].iter().rposition(|b| b == quote)
            }
            Some(_) => words
                .iter()
                .rposition(u8::is_ascii_whitespace)
                .map(|n| n + 1)
                .or(Some(0)),
            None => None,
        };
        let word = start + echo + last?;
        let range = self.argument_at(word);
        (range.end <= end).then_some(range)
    }

    /// Redacts an argument at a given position of the words behind a command.
    fn push_positional(
        &mut self,
        from: usize,
        to: usize,
        position: impl Fn(&[&str]) -> Option<usize>,
    ) {
        let mut ranges = Vec::new();
        let mut at = self.bytes.skip_blanks(from);
        while at < to && ranges.len() < 16 {
            let word = self.argument_at(at);
            if word.is_empty() {
                break;
            }
            at = self.bytes.skip_blanks(
                word.end + usize::from(matches!(self.bytes.byte(word.end), b'"' | b'\'')),
            );
            ranges.push(word);
        }
        let words: Vec<&str> = ranges
            .iter()
            .filter_map(|range| self.text.get(range.clone()))
            .collect();
        if let Some(range) = position(&words).and_then(|n| ranges.get(n)).cloned() {
            self.push_argument(range);
        }
    }

    /// Adds an argument that only can be a secret, unless it is a placeholder, an option or a file.
    pub(super) fn push_argument(&mut self, range: Range<usize>) {
        let Some(text) = self.text.get(range.clone()) else {
            return;
        };
        let shape = ValueShape::of(text);
        let option =
            text.starts_with(['-', '/']) || text.starts_with("file:") || text.starts_with("env:");
        let made = shape.digits > 0 || shape.odd > 0 || shape.upper > 0;
        let fits = shape.length >= 4 && made && !value_shape::is_reference(text);
        if fits
            && !option
            && !value_shape::is_placeholder(text)
            && !value_shape::is_known_word(text)
        {
            self.push(range.start, range.end, "password");
        }
    }

    /// Matches a command that stores a secret under a name: `gh secret set NAME --body SECRET`, `echo SECRET | … NAME`.
    pub(super) fn match_stored_secret(&mut self, kind: SecretNameKind, name: &Range<usize>) {
        const OPTIONS: [&[u8]; 8] = [
            b" --body",
            b" --value",
            b" --secret-string",
            b" --plaintext",
            b" --secret-value",
            b" --data",
            b" -b",
            b" -v",
        ];
        let end = self.line_end(name.end);
        let rest = self.bytes.get(name.end..end).unwrap_or_default();
        let rest = rest.get(..COMMAND_REST_MAX).unwrap_or(rest);
        let has_option = memchr::memchr_iter(b'-', rest).any(|n| n > 0 && rest[n - 1] == b' ');
        let option = OPTIONS.iter().filter(|_| has_option).find_map(|option| {
            let at = memchr::memmem::find(rest, option)? + option.len();
            matches!(rest.get(at), Some(b' ' | b'=')).then_some(name.end + at + 1)
        });
        if let Some(at) = option {
            let value = self.bytes.skip_blanks(at);
            return self.check_value(kind, ValueSyntax::Tight, name.clone(), value, true);
        }
        let here = memchr::memchr(b'<', rest).filter(|at| rest[*at..].starts_with(b"<<<"));
        if let Some(at) = here {
            let value = self.bytes.skip_blanks(name.end + at + 3);
            return self.check_value(kind, ValueSyntax::Tight, name.clone(), value, true);
        }
        let is_input = self.bytes.has_text_at(name.end.saturating_sub(5), b"stdin")
            || word_before(self.bytes, name.start).is_some_and(|word| SETTERS.contains(&word))
            || self.bytes.has_text_at(name.start, b"chpasswd")
            || self.bytes.has_text_at(name.start, b"with-token");
        if !is_input {
            return;
        }
        if let Some(value) = self.piped_literal(name.start) {
            let text = &self.bytes[value.clone()];
            let colon = match self.bytes.has_text_at(name.start, b"chpasswd") {
                true => memchr::memchr(b':', text).map_or(0, |n| n + 1),
                false => 0,
            };
            self.push_argument(value.start + colon..value.end);
        }
    }

    /// Returns the range of the shell word at `at`, without its quotes.
    fn argument_at(&self, at: usize) -> Range<usize> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..ARGUMENT_MAX).unwrap_or(rest);
        match rest.first() {
            Some(quote @ (b'"' | b'\'')) => {
                let length = memchr::memchr2(*quote, b'\n', &rest[1..]).unwrap_or(0);
                at + 1..at + 1 + length
            }
            _ => {
                let ends = |b: &u8| b.is_ascii_whitespace() || b"|;&<>`\\\"')".contains(b);
                at..at + rest.iter().position(ends).unwrap_or(rest.len())
            }
        }
    }

    /// Returns the name of the command whose option is at `at`, and the offset behind it.
    fn command_before(&self, at: usize) -> Option<(&str, usize)> {
        let from = at.saturating_sub(COMMAND_MAX);
        let before = self.bytes.get(from..at)?;
        let first = before
            .iter()
            .rposition(|b| {
                matches!(b, b'\n' | b'|' | b';' | b'`' | b'"') || (*b == b'&') || *b == b'('
            })
            .map_or(from, |n| from + n + 1);
        self.first_command(first, at)
    }

    /// Returns the name of the command of the line around `at`, and the offset behind it.
    fn command_around(&mut self, at: usize) -> Option<(&str, usize)> {
        let end = self.line_end(at);
        let from = at.saturating_sub(COMMAND_MAX);
        let before = self.bytes.get(from..at)?;
        let first = before
            .iter()
            .rposition(|b| matches!(b, b'\n' | b'|' | b';' | b'`' | b'"' | b'&' | b'('))
            .map_or(from, |n| from + n + 1);
        self.first_command(first, end)
    }

    /// Returns the first word of a command line that is a command, and no prompt, variable or prefix.
    fn first_command(&self, from: usize, to: usize) -> Option<(&str, usize)> {
        let mut at = from;
        loop {
            at = self.bytes.skip_blanks(at);
            let length = self
                .bytes
                .get(at..to)?
                .iter()
                .take_while(|b| !b.is_ascii_whitespace())
                .count();
            let word = self
                .text
                .get(at..at + length)
                .filter(|word| !word.is_empty())?;
            let skipped = [
                "$", "#", ">", "+", "-", "RUN", "run:", "sudo", "exec", "time", "nohup", "command",
                "env",
            ]
            .contains(&word)
                || word.contains('=')
                || word.ends_with(['$', '#', '>', ':']);
            let next = at + length;
            // `sudo -S` reads a password itself.
            if !skipped
                || (word == "sudo" && self.bytes.byte(self.bytes.skip_blanks(next)) == b'-')
                || next >= to
            {
                let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
                return Some((name.strip_suffix(".exe").unwrap_or(name), next));
            }
            at = next;
        }
    }
}

/// Returns the word in front of a name, on its line.
pub(super) fn word_before(bytes: &[u8], start: usize) -> Option<&[u8]> {
    let before = bytes.get(start.saturating_sub(WORD_MAX)..start)?;
    let line = before.rsplit(|b| *b == b'\n').next()?.trim_ascii_end();
    line.rsplit(u8::is_ascii_whitespace).next()
}

/// Returns true if `password` begins a line of a file of logins, below the line of its user.
pub(super) fn is_login_line(bytes: &[u8], name: &Range<usize>, before: &[u8]) -> bool {
    if !before.trim_ascii().is_empty() {
        return false;
    }
    let above = &bytes[name.start.saturating_sub(LOGIN_BYTES_MAX)..name.start];
    above
        .rsplit(|b| *b == b'\n')
        .take(LOGIN_LINES_MAX)
        .any(|line| {
            let line = line.trim_ascii_start();
            [&b"login "[..], b"machine ", b"account "]
                .iter()
                .any(|word| line.starts_with(word))
        })
}

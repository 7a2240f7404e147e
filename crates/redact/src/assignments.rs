//! Secrets after a name: assignments, fields, options, and plain sentences.

use super::assignment_syntax::{AssignmentSyntax, TYPE_LENGTH};
use super::commands::{self, CommandScan};
use super::named_pairs::PairScan;
use super::scan::Scanner;
use super::secret_names::{self, SecretNameKind};
use super::sentences::SentenceScan;
use super::tables::{self, TableScan};
use super::text_bytes::TextBytes as _;
use super::value_rules::{self, NamedValue, ValueSyntax};
use super::value_shape;

/// Maximum length of a name in bytes.
const NAME_MAX: usize = 64;
/// Bytes of a neighbouring line that are read.
const SETTING_BYTES_MAX: usize = 512;
/// Maximum length of an XML element in bytes, with the blanks around its value.
const ELEMENT_MAX: usize = 1_024;

impl Scanner<'_> {
    /// Checks the name around `at`, and its value.
    pub(super) fn check_name(&mut self, at: usize) {
        if at < self.name_end {
            return;
        }
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(*b, b'_' | b'-' | b'.');
        let before = &self.bytes[at.saturating_sub(NAME_MAX)..at];
        let back = before.iter().rev().take_while(|b| part(b)).count();
        let rest = &self.bytes[at..];
        let ahead = rest.iter().take(NAME_MAX).take_while(|b| part(b)).count();
        self.name_end = at + ahead;
        if back == NAME_MAX || ahead == NAME_MAX {
            return;
        }
        let whole = &self.bytes[at - back..at + ahead];
        let dashes = whole.iter().take_while(|&&b| b == b'-').count();
        let start = at - back + whole.iter().take_while(|b| b"-.".contains(b)).count();
        let tail = whole.iter().rev().take_while(|b| b"-.".contains(b)).count();
        let end = (at + ahead - tail).max(start);
        if whole.eq_ignore_ascii_case(b"cookies") {
            return PairScan(self).match_cookie_list(end);
        }
        let start = with_word_before(self.bytes, start, end);
        let name = start..end;
        if let Some((syntax, value)) = PairScan(self).paired_value(&name) {
            if let Some(kind) = kind_of_name(self.text, &name) {
                self.check_value_of(kind, syntax, name, value, false);
            }
            return;
        }
        // Looking for a value is cheaper than classifying the name, and most names have no value.
        let Some((syntax, value)) = AssignmentSyntax::new(self.bytes).find_value(start, end) else {
            return self.check_surroundings(name);
        };
        if syntax == ValueSyntax::Blank && dashes == 0 {
            let text = self.text.get(name.clone()).unwrap_or("");
            if !self.can_precede_value(text, start, value) {
                return self.check_surroundings(name);
            }
        }
        let Some(kind) = kind_of_name(self.text, &name) else {
            return;
        };
        let syntax = if syntax == ValueSyntax::Blank && dashes > 0 {
            ValueSyntax::Option
        } else {
            syntax
        };
        let hits = self.hits.len();
        self.check_value_of(kind, syntax, name.clone(), value, dashes > 0);
        if self.hits.len() == hits && syntax == ValueSyntax::Blank {
            self.check_surroundings(name);
        }
    }

    /// Checks a name without a value behind it: in a table, in a command, and in a sentence.
    fn check_surroundings(&mut self, name: std::ops::Range<usize>) {
        let before = name.start.checked_sub(1).map_or(b' ', |at| self.bytes[at]);
        let mut after = self.bytes.byte(name.end);
        if matches!(after, b'"' | b'\'' | b'`' | b'*') {
            after = self.bytes.byte(name.end + 1);
        }
        let is_cell = tables::may_be_cell(self.bytes, &name);
        // Most names are in code, where none of this applies.
        let stands_alone = matches!(
            before,
            b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'`' | b'*' | b'-' | b'/'
        ) || !before.is_ascii();
        let goes_on = matches!(after, b' ' | b's' | b'*') || !after.is_ascii();
        let ends = goes_on || matches!(after, b'\n' | b'\r' | b'.' | b',' | b'!' | b'?' | 0);
        if !is_cell && (!stands_alone || !ends) {
            return;
        }
        let Some(kind) = kind_of_name(self.text, &name) else {
            return;
        };
        if matches!(
            kind,
            SecretNameKind::Authorization | SecretNameKind::Cookie | SecretNameKind::SetCookie
        ) {
            return;
        }
        let hits = self.hits.len();
        if is_cell {
            TableScan(self).match_table_cell(&name);
        }
        if self.hits.len() == hits && stands_alone && ends {
            CommandScan(self).match_stored_secret(kind, &name);
        }
        if self.hits.len() == hits && stands_alone && ends {
            SentenceScan(self).match_sentence(kind, &name);
        }
    }

    /// Checks the value of a name of any kind.
    fn check_value_of(
        &mut self,
        name_kind: SecretNameKind,
        syntax: ValueSyntax,
        name: std::ops::Range<usize>,
        value: usize,
        option: bool,
    ) {
        match name_kind {
            SecretNameKind::Authorization => self.match_authorization(syntax, value),
            SecretNameKind::Cookie | SecretNameKind::SetCookie => {
                self.match_cookie(name_kind, syntax, name.start, value)
            }
            SecretNameKind::Password
            | SecretNameKind::Secret
            | SecretNameKind::Token
            | SecretNameKind::Key
            | SecretNameKind::OtherKey
            | SecretNameKind::Pin
            | SecretNameKind::ClientId
            | SecretNameKind::Otp
            | SecretNameKind::Phrase => {
                self.check_value(name_kind, syntax, name, value, option);
            }
        }
    }

    /// Returns true if the value of this name may follow after a blank. That is rare and cheap to check.
    fn can_precede_value(&self, name: &str, start: usize, at: usize) -> bool {
        let next = [self.bytes.byte(at), self.bytes.byte(at + 1)].map(|b| b.to_ascii_lowercase());
        let line = self.bytes.get(at..).unwrap_or_default();
        let line = line.get(..TYPE_LENGTH).unwrap_or(line);
        let sign = memchr::memchr2(b'=', b'\n', line).filter(|n| line[*n] == b'=');
        if sign.is_some_and(|n| {
            matches!(
                self.bytes.byte(self.bytes.skip_blanks(at + n + 1)),
                b'"' | b'\'' | b'`'
            )
        }) {
            return true;
        }
        matches!(&next, b"is" | b"wa" | b"ar" | b"-p")
            || matches!(next[0], b'\'' | b'"')
            || commands::word_before(self.bytes, start)
                .is_some_and(|word| commands::SETTERS.contains(&word) || word.starts_with(b"//"))
            || name.starts_with(|c: char| c.is_ascii_uppercase())
            || name.eq_ignore_ascii_case("password")
            || name.eq_ignore_ascii_case("passwd")
    }

    /// Checks the value of a password, a secret, a token or a key.
    pub(super) fn check_value(
        &mut self,
        name_kind: SecretNameKind,
        syntax: ValueSyntax,
        name: std::ops::Range<usize>,
        at: usize,
        option: bool,
    ) {
        let context = self.name_context(&name, option);
        if syntax == ValueSyntax::Blank {
            return self.check_after_blank(name_kind, name, at, &context);
        }
        if matches!(syntax, ValueSyntax::Element | ValueSyntax::Attribute) {
            return self.check_element(name_kind, syntax, at, &context);
        }
        let reader = AssignmentSyntax::new(self.bytes);
        let at = match syntax {
            ValueSyntax::Colon => reader
                .yaml_block(at)
                .or_else(|| reader.typed_literal(at))
                .unwrap_or(at),
            ValueSyntax::Equals | ValueSyntax::Tight => {
                reader.constructor_literal(at).unwrap_or(at)
            }
            ValueSyntax::Element
            | ValueSyntax::Attribute
            | ValueSyntax::Call
            | ValueSyntax::Option
            | ValueSyntax::Blank
            | ValueSyntax::Sentence => at,
        };
        match self.quoted_literal(at) {
            Some((range, template)) => {
                let braces = self.text.get(range.clone()).unwrap_or("");
                if template && braces.contains('{') {
                    return;
                }
                self.push_if_secret(name_kind, syntax, range, true, &context);
            }
            None if name_kind == SecretNameKind::Phrase => {
                let end = self.line_end(at).max(at);
                let line = &self.bytes[at..end];
                let opened = name.start.checked_sub(1).map_or(0, |n| self.bytes[n]);
                let length = match opened {
                    b'"' | b'\'' | b'`' => memchr::memchr(opened, line),
                    _ => None,
                };
                let length = line[..length.unwrap_or(line.len())].trim_ascii_end().len();
                let range = at..at + length;
                let words = self
                    .text
                    .get(range.clone())
                    .is_some_and(value_shape::is_seed_phrase);
                let range = if words {
                    range
                } else {
                    self.bare_value(at, false)
                };
                self.push_if_secret(name_kind, syntax, range, false, &context);
            }
            None => {
                let free = context.free && syntax == ValueSyntax::Tight;
                let range = self.bare_value(at, free);
                self.push_if_secret(name_kind, syntax, range, false, &context);
            }
        }
    }

    /// Checks the content of an XML element, on its line or on separate lines.
    fn check_element(
        &mut self,
        name_kind: SecretNameKind,
        syntax: ValueSyntax,
        at: usize,
        context: &NameContext,
    ) {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..ELEMENT_MAX).unwrap_or(rest);
        let Some(end) = memchr::memchr(b'<', rest) else {
            return;
        };
        let text = rest[..end].trim_ascii();
        let start = at + (end - rest[..end].trim_ascii_start().len());
        if !text.contains(&b'\n') {
            self.push_if_secret(name_kind, syntax, start..start + text.len(), true, context);
        }
    }

    fn push_if_secret(
        &mut self,
        name_kind: SecretNameKind,
        syntax: ValueSyntax,
        range: std::ops::Range<usize>,
        quoted: bool,
        context: &NameContext,
    ) {
        let Some(text) = self.text.get(range.clone()) else {
            return;
        };
        let line_end = self.line_end(range.end);
        let rest = self.bytes.get(range.end..line_end).unwrap_or_default();
        let rest = rest.trim_ascii_start();
        let value = NamedValue {
            text,
            quoted,
            syntax,
            upper: context.upper,
            header: context.header,
            option: context.option,
            whole_line: context.begins_line && rest.is_empty(),
            ends_line: rest.is_empty() || rest[0] == b'#',
            is_yaml: syntax == ValueSyntax::Colon
                && context.begins_line
                && rest.is_empty()
                && is_among_settings(self.bytes, range.start, line_end),
            next: self.bytes.byte(range.end),
        };
        if value_rules::is_secret(name_kind, &value) {
            self.push(range.start, range.end, name_kind.kind());
        }
    }

    /// Checks a value after a blank: options like assignments, others only after certain words.
    fn check_after_blank(
        &mut self,
        name_kind: SecretNameKind,
        name: std::ops::Range<usize>,
        at: usize,
        context: &NameContext,
    ) {
        // `var name string = "…"`
        let typed = AssignmentSyntax::new(self.bytes).typed_literal(at);
        if let Some(literal) = typed.filter(|literal| *literal > at)
            && let Some((range, false)) = self.quoted_literal(literal)
        {
            return self.push_if_secret(name_kind, ValueSyntax::Equals, range, true, context);
        }
        if let Some(start) = self.sshpass_password(&name, at) {
            return self.check_value(name_kind, ValueSyntax::Tight, name, start, true);
        }
        let before = &self.bytes[name.start.saturating_sub(200)..name.start];
        let before = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        let mut words = before
            .split(u8::is_ascii_whitespace)
            .rev()
            .filter(|word| !word.is_empty());
        let (last, second) = (words.next().unwrap_or(b""), words.next().unwrap_or(b""));
        let setting = context.upper && [&b"ENV"[..], b"setx", b"-gx", b"-x"].contains(&last);
        let stored = commands::SETTERS.contains(&last)
            && (last != b"set" || second.starts_with(b"config") || second.starts_with(b"secret"));
        let packages = last.starts_with(b"//") && second == b"set";
        let logs_in = second.eq_ignore_ascii_case(b"login")
            || commands::is_login_line(self.bytes, &name, before);
        let option = self.bytes.byte(at) == b'-';
        if (setting || stored || packages || logs_in) && !option {
            return self.check_value(name_kind, ValueSyntax::Tight, name, at, true);
        }
        if let Some((range, false)) = self.quoted_literal(at)
            && (self.bytes.byte(at) == b'\'' || context.begins_line)
        {
            return self.push_if_secret(name_kind, ValueSyntax::Blank, range, true, context);
        }
        let verb = [&b"is "[..], b"was ", b"are "]
            .iter()
            .find(|verb| self.bytes.has_text_at(at, verb))
            .map(|verb| verb.len());
        if let Some(length) = verb {
            let range = self.plain_word(self.bytes.skip_blanks(at + length));
            self.push_if_secret(name_kind, ValueSyntax::Sentence, range, false, context);
        }
    }

    fn name_context(&self, name: &std::ops::Range<usize>, option: bool) -> NameContext {
        let text = &self.bytes[name.clone()];
        let upper = text.iter().any(u8::is_ascii_uppercase)
            && !text.iter().any(u8::is_ascii_lowercase)
            && !text.contains(&b'.');
        let from = name.start.saturating_sub(NAME_MAX);
        let before = &self.bytes[from..name.start];
        let line = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        let line = line.trim_ascii();
        let opened = line.strip_suffix(b"\"").or_else(|| line.strip_suffix(b"'"));
        let opened = opened.unwrap_or_default().trim_ascii_end();
        let is_header = opened.ends_with(b"-H") || opened.ends_with(b"--header");
        let begins_line = line.is_empty() || [&b"export"[..], b"set", b"-"].contains(&line);
        NameContext {
            upper,
            header: (text.contains(&b'-') && !option) || is_header,
            option,
            begins_line,
            free: upper && begins_line,
        }
    }
}

/// Returns the start of a name of two words: `API key`.
fn with_word_before(bytes: &[u8], start: usize, end: usize) -> usize {
    const PARTED: [&[u8]; 3] = [b"key", b"keys", b"phrase"];
    let last = &bytes[start..end];
    if !PARTED.iter().any(|word| last.eq_ignore_ascii_case(word)) || start < 2 {
        return start;
    }
    let before = &bytes[..start];
    let blank = before.ends_with(b" ") || before.ends_with(b"-");
    let word = before[..start - 1]
        .iter()
        .rev()
        .take(NAME_MAX)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    if blank && word > 0 {
        start - 1 - word
    } else {
        start
    }
}

/// Returns the kind of secret that a name denotes.
fn kind_of_name(text: &str, name: &std::ops::Range<usize>) -> Option<SecretNameKind> {
    let name = text.get(name.clone())?;
    if name.len() <= 3 && name.eq_ignore_ascii_case("key") {
        return None;
    }
    secret_names::classify_name(name)
}

/// Returns true if the line above or below that of `at` is a `name: value` line too, and neither is code.
fn is_among_settings(bytes: &[u8], at: usize, end: usize) -> bool {
    let before = bytes
        .get(at.saturating_sub(SETTING_BYTES_MAX)..at)
        .unwrap_or_default();
    let above = before.rsplit(|b| *b == b'\n').nth(1);
    let rest = bytes.get(end..).unwrap_or_default();
    let rest = rest.get(..SETTING_BYTES_MAX).unwrap_or(rest);
    let below = rest.split(|b| *b == b'\n').nth(1);
    let lines = [above, below].map(|line| line.unwrap_or_default().trim_ascii());
    let code = lines
        .iter()
        .any(|line| line.ends_with(b",") || line.ends_with(b"{") || line.ends_with(b";"));
    let setting = |line: &&[u8]| {
        let line = line.strip_prefix(b"- ").unwrap_or(line);
        let name = line
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b))
            .count();
        name > 0 && matches!(line.get(name..), Some([b':'] | [b':', b' ', ..]))
    };
    !code && lines.iter().any(setting)
}

/// Surroundings of a name.
struct NameContext {
    /// The name has capitals only, as environment variables have.
    upper: bool,
    /// The name has hyphens, as headers have.
    header: bool,
    /// The name is an option of a command.
    option: bool,
    /// The name is first on its line, or exported there.
    begins_line: bool,
    /// The value ends at a blank only.
    free: bool,
}

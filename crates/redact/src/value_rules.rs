//! Rules that decide if the value of a secret name is a secret, a placeholder, or program code.

use super::secret_names::SecretNameKind;
use super::value_shape::{self, ValueShape};

/// Syntax between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueSyntax {
    /// `=` without blanks.
    Tight,
    /// `=`, `:=`, `=>`, `==` with blanks, or quotes before it.
    Equals,
    /// `:`
    Colon,
    /// `<name>value</name>`
    Element,
    /// `"name">value<`
    Attribute,
    /// `name("value")`, `"name", "value"`
    Call,
    /// `--name value`
    Option,
    /// `name value`
    Blank,
    /// `name is value`
    Sentence,
}

/// A value with its surroundings.
pub(super) struct NamedValue<'t> {
    pub(super) text: &'t str,
    pub(super) quoted: bool,
    pub(super) syntax: ValueSyntax,
    /// The name has capitals only.
    pub(super) upper: bool,
    /// The name has hyphens, as header names have.
    pub(super) header: bool,
    /// The name is an option of a command.
    pub(super) option: bool,
    /// The line contains nothing else.
    pub(super) whole_line: bool,
    /// Only a comment follows on the line.
    pub(super) ends_line: bool,
    /// Byte after the value.
    pub(super) next: u8,
}

impl NamedValue<'_> {
    /// Returns true if the value is assigned in an environment or to an option, not by a program.
    fn is_assigned(&self) -> bool {
        self.syntax == ValueSyntax::Tight && (self.upper || self.option) && !self.quoted
    }
}

/// Returns true if the value of a name of this kind is a secret.
pub(super) fn is_secret(name_kind: SecretNameKind, value: &NamedValue<'_>) -> bool {
    let text = value.text;
    if !value.quoted && !value.is_assigned() && value_shape::is_code(text) {
        return false;
    }
    let looks = match name_kind {
        SecretNameKind::Password if value.quoted => is_quoted_password(value),
        SecretNameKind::Password => is_bare_password(value),
        SecretNameKind::Secret => {
            value_shape::is_generated(text, 3.5)
                || is_made_up_secret(value)
                || value_shape::is_long_number(text)
        }
        SecretNameKind::Token | SecretNameKind::Key => {
            // The value of a header is not a variable, so a lower threshold suffices, as in gitleaks'
            // `curl-auth-header`.
            let bits = if value.header && value.syntax == ValueSyntax::Colon {
                2.75
            } else {
                3.5
            };
            let number = value.quoted || value.syntax != ValueSyntax::Sentence;
            value_shape::is_generated(text, bits) || (number && value_shape::is_long_number(text))
        }
        SecretNameKind::OtherKey => is_other_key(value),
        SecretNameKind::Pin => is_pin(value),
        SecretNameKind::ClientId => is_client_id(value),
        SecretNameKind::Otp => {
            is_pin(value) || (text.len() >= 16 && value_shape::is_generated(text, 3.5))
        }
        SecretNameKind::Phrase => {
            value_shape::is_seed_phrase(text)
                || (text.len() >= 16 && value_shape::is_generated(text, 3.5))
        }
        SecretNameKind::Authorization | SecretNameKind::Cookie | SecretNameKind::SetCookie => false,
    };
    looks
        && !value_shape::is_known_word(text)
        && (value_shape::is_pair(text) || !value_shape::is_reference(text))
        && !value_shape::is_placeholder(text)
}

/// Returns true if the value of a name of this kind is a secret in data, where every value is a literal.
pub(super) fn is_secret_literal(name_kind: SecretNameKind, text: &str) -> bool {
    match name_kind {
        SecretNameKind::Authorization => {
            let (scheme, secret) = text.split_once(' ').unwrap_or(("", text));
            is_credential(secret, !scheme.is_empty(), true)
        }
        SecretNameKind::Cookie | SecretNameKind::SetCookie => text
            .split(';')
            .filter_map(|pair| pair.split_once('='))
            .any(|(key, value)| is_cookie(key, value)),
        SecretNameKind::Password
        | SecretNameKind::Secret
        | SecretNameKind::Token
        | SecretNameKind::Key
        | SecretNameKind::OtherKey
        | SecretNameKind::Pin
        | SecretNameKind::ClientId
        | SecretNameKind::Otp
        | SecretNameKind::Phrase => is_secret(
            name_kind,
            &NamedValue {
                text,
                quoted: true,
                syntax: ValueSyntax::Colon,
                upper: false,
                header: false,
                option: false,
                whole_line: false,
                ends_line: false,
                next: b'"',
            },
        ),
    }
}

fn is_quoted_password(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    let shape = ValueShape::of(text);
    if shape.length < 4 || text.ends_with("()") {
        return false;
    }
    if shape.blanks > 0 && is_sentence(text, &shape) {
        return false;
    }
    let letters_only = shape.digits == 0 && shape.other == 0;
    // A label or a type: `Password`, `String`.
    if letters_only && shape.upper == 1 && text.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    // The name of a field: `new_password`, `userPassword`.
    let named = shape.digits == 0
        && value_shape::is_identifier(text)
        && super::secret_names::classify_name(text).is_some();
    let parted = shape.other > 0 || (shape.upper > 0 && shape.upper < shape.letters);
    if named && parted {
        return false;
    }
    let alone = matches!(
        value.syntax,
        ValueSyntax::Call | ValueSyntax::Blank | ValueSyntax::Attribute
    );
    !alone || shape.has_letters_and_digits() || shape.odd > 0
}

/// Returns true if the value of a key with an unknown word before it can only be a secret.
fn is_other_key(value: &NamedValue<'_>) -> bool {
    let line = value.syntax == ValueSyntax::Colon && (value.ends_line || value.header);
    let literal = value.quoted || value.syntax == ValueSyntax::Tight || line;
    literal && value.text.len() >= 16 && value_shape::is_generated(value.text, 3.5)
}

/// Returns true if a value is the long number of an API client.
fn is_client_id(value: &NamedValue<'_>) -> bool {
    let literal = value.quoted || value.is_assigned() || value.ends_line;
    literal
        && value.text.len() <= 20
        && value_shape::is_long_number(value.text)
        && !matches!(
            value.syntax,
            ValueSyntax::Blank | ValueSyntax::Sentence | ValueSyntax::Call
        )
}

/// Returns true if a value is a PIN.
fn is_pin(value: &NamedValue<'_>) -> bool {
    let literal = value.quoted || value.is_assigned() || value.ends_line;
    literal
        && (4..=8).contains(&value.text.len())
        && value.text.bytes().all(|b| b.is_ascii_digit())
        && !matches!(
            value.syntax,
            ValueSyntax::Blank | ValueSyntax::Sentence | ValueSyntax::Call
        )
}

/// Returns true if a quoted text is a sentence for people.
fn is_sentence(text: &str, shape: &ValueShape) -> bool {
    let begins = text.trim_start().starts_with(|c: char| c.is_uppercase());
    let ends = text.trim_end().ends_with(['.', '?', ':', '!']);
    let about = value_shape::contains_ignoring_case(value_shape::sample(text), b"passw");
    begins || ends || about || shape.blanks > 5 || text.starts_with(' ')
}

fn is_bare_password(value: &NamedValue<'_>) -> bool {
    let text = value.text;
    let shape = ValueShape::of(text);
    if shape.length < 3 || text.chars().nth(2).is_none() {
        return false;
    }
    let constant = shape.digits == 0 && shape.letters == shape.upper && shape.upper > 0;
    if value.is_assigned() {
        return !constant;
    }
    let lively = shape.has_letters_and_digits() || shape.odd > 0;
    match value.syntax {
        ValueSyntax::Option => lively && shape.length >= 4,
        ValueSyntax::Sentence => is_sentence_password(text, &shape),
        ValueSyntax::Tight | ValueSyntax::Equals | ValueSyntax::Colon => {
            let separated = matches!(value.next, b',' | b';' | b')' | b'}');
            if value.syntax == ValueSyntax::Tight
                && value.whole_line
                && !value_shape::is_identifier(text)
            {
                return true;
            }
            if value.syntax == ValueSyntax::Tight && value.whole_line && !text.contains(['_', '.'])
            {
                return !constant;
            }
            if value.syntax == ValueSyntax::Colon && value.upper && value.ends_line {
                return !constant;
            }
            if shape.digits == shape.length {
                return shape.length >= 6;
            }
            if value.syntax == ValueSyntax::Equals && !value.ends_line {
                return false;
            }
            // A variable: `password: hash2,`, `user.pass2`.
            let variable = value_shape::is_identifier(text)
                && (text.contains('.') || (separated && value.syntax != ValueSyntax::Tight));
            lively
                && shape.length >= 4
                && !variable
                && !(shape.other > 0 && shape.odd == 0 && value_shape::is_wordy(text))
        }
        ValueSyntax::Element | ValueSyntax::Attribute | ValueSyntax::Call | ValueSyntax::Blank => {
            false
        }
    }
}

/// Returns true for a password in a sentence, such as `the password is hunter2horse!`: only words that do not occur
/// in prose.
fn is_sentence_password(text: &str, shape: &ValueShape) -> bool {
    let counted = text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .chars()
            .all(char::is_alphabetic);
    shape.length >= 6
        && shape.has_letters_and_digits()
        && !text.contains(['-', '/', '_', '.', '='])
        && !counted
}

/// Returns true for a secret that a person chose, in a literal or an environment variable.
fn is_made_up_secret(value: &NamedValue<'_>) -> bool {
    let shape = ValueShape::of(value.text);
    (value.quoted || value.is_assigned())
        && shape.length >= 8
        && shape.blanks == 0
        && shape.has_letters_and_digits()
        && !value_shape::is_wordy(value.text)
        && !matches!(
            value.syntax,
            ValueSyntax::Call | ValueSyntax::Blank | ValueSyntax::Attribute
        )
}

/// Returns true if the text after the scheme of an `Authorization` header is a secret.
pub(super) fn is_credential(text: &str, scheme: bool, quoted: bool) -> bool {
    if value_shape::is_placeholder(text)
        || value_shape::is_known_word(text)
        || (!quoted && value_shape::is_code(text))
    {
        return false;
    }
    if !scheme {
        return value_shape::is_generated(text, 2.75);
    }
    let shape = ValueShape::of(text);
    let inner_capitals = shape.upper > 0
        && shape.upper < shape.letters
        && text
            .get(1..)
            .is_some_and(|s| s.contains(|c: char| c.is_ascii_uppercase()));
    let encoded = shape.digits > 0 || inner_capitals || text.ends_with('=');
    let name = value_shape::is_identifier(text)
        && text.contains(['_', '.'])
        && value_shape::is_wordy(text);
    shape.length >= 6 && encoded && !name
}

/// Returns true if the value of a cookie is a secret.
pub(super) fn is_cookie(key: &str, text: &str) -> bool {
    let key = key.trim();
    let text = text.trim();
    let about = ["path", "domain", "expires", "max-age", "samesite"];
    if about.iter().any(|name| name.eq_ignore_ascii_case(key)) || key.contains(' ') {
        return false;
    }
    let shape = ValueShape::of(text);
    let mixed = shape.has_letters_and_digits() || (shape.upper > 0 && shape.upper < shape.letters);
    shape.length >= 6 && mixed && !value_shape::is_placeholder(text) && !value_shape::is_code(text)
}

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
    /// The line is one of several `name: value` lines.
    pub(super) is_yaml: bool,
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
    let wrapped = value_shape::unwrap(text).is_some();
    if !value.quoted && !value.is_assigned() && !wrapped && value_shape::is_code(text) {
        return false;
    }
    let looks = match name_kind {
        SecretNameKind::Password if value.quoted => is_quoted_password(value),
        SecretNameKind::Password => is_bare_password(value),
        SecretNameKind::Secret => {
            value_shape::is_generated(text, 3.5)
                || (value.quoted && value_shape::is_generated_with_signs(text))
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
            value_shape::is_generated(text, bits)
                || (value.quoted && value_shape::is_generated_with_signs(text))
                || (number && value_shape::is_long_number(text))
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
                is_yaml: false,
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
    // Words of prose do not mix digits and capitals.
    let random = |word: &str| {
        let shape = ValueShape::of(word);
        shape.length >= 5 && shape.turns > 0 && shape.upper > 0 && shape.upper < shape.letters
    };
    if !about && text.split_whitespace().any(random) {
        return false;
    }
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
            if value.is_yaml && is_chosen_word(text, &shape) {
                return true;
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

/// Returns true for a password of letters in a file of settings: no type, and no name of another password.
fn is_chosen_word(text: &str, shape: &ValueShape) -> bool {
    let type_name = shape.upper == 1 && text.starts_with(|c: char| c.is_ascii_uppercase());
    let named = super::secret_names::classify_name(text).is_some();
    shape.length >= 6 && shape.letters == shape.length && !type_name && !named
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

/// Returns true if a word of a sentence can be a secret of this kind, and no word of the language.
pub(super) fn is_sentence_secret(name_kind: SecretNameKind, text: &str) -> bool {
    let shape = ValueShape::of(text);
    let looks = match name_kind {
        SecretNameKind::Password | SecretNameKind::Secret => {
            is_sentence_password(text, &shape)
                || value_shape::is_generated(text, 3.0)
                || (shape.length >= 6
                    && shape.letters > 0
                    && has_inner_sign(text)
                    && !value_shape::is_code(text))
        }
        SecretNameKind::Token | SecretNameKind::Key | SecretNameKind::OtherKey => {
            (shape.digits > 0 && value_shape::is_generated(text, 3.0))
                || value_shape::is_long_number(text)
        }
        SecretNameKind::Pin
        | SecretNameKind::ClientId
        | SecretNameKind::Otp
        | SecretNameKind::Phrase
        | SecretNameKind::Authorization
        | SecretNameKind::Cookie
        | SecretNameKind::SetCookie => false,
    };
    looks
        && !value_shape::is_known_word(text)
        && !value_shape::is_reference(text)
        && !value_shape::is_placeholder(text)
        && !is_sized_type(text)
        && !text
            .trim_end_matches('=')
            .contains(['=', ':', '\\', '(', '{', '[', ';', '<', '&'])
        && !text.starts_with(['#', '%', '.'])
}

/// Returns true if a word has a sign inside that people put into passwords.
fn has_inner_sign(text: &str) -> bool {
    let inner = text.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let digit = inner.contains(|c: char| c.is_ascii_digit());
    inner.contains(['!', '@', '#', '$', '*', '^', '?']) && digit && !text.contains(';')
}

/// Returns true if a word mixes digits with small and capital letters, as no word of prose does.
pub(super) fn is_strong_word(text: &str) -> bool {
    let shape = ValueShape::of(text);
    shape.length >= 8 && shape.turns > 0 && shape.upper > 0 && shape.upper < shape.letters
}

/// Returns true if the cell of a table is data: no description, type or name.
pub(super) fn is_data(text: &str) -> bool {
    let shape = ValueShape::of(text);
    shape.blanks == 0
        && (shape.digits > 0 || shape.odd > 0 || shape.length >= 16)
        && !text.ends_with([';', '}', ')', '{', '('])
        && !value_shape::is_code(text)
        && !is_sized_type(text)
}

/// Returns true for a type with its size, such as `int32` and `varchar255`, and for a unit with its number.
fn is_sized_type(text: &str) -> bool {
    const TYPES: &[&str] = &[
        "int", "uint", "float", "char", "varchar", "string", "bytes", "binary", "utf", "sha", "md",
        "base", "hs", "rs", "es", "aes", "rsa", "oauth", "http", "v",
    ];
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.len() < text.len() && TYPES.iter().any(|name| letters.eq_ignore_ascii_case(name))
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

//! Whether a value beside a telling name is a secret, or stands for one, or is a piece of a program.

use super::names::Telling;
use super::shape::{self, Shape};

/// What joins a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `=` without blanks.
    Tight,
    /// `=`, `:=`, `=>`, `==` with blanks, or quotes before it.
    Equals,
    /// `:`
    Colon,
    /// `<name>value</name>`
    Element,
    /// `name("value")`
    Call,
    /// `--name value`
    Option,
    /// `name value`
    Blank,
    /// `name is value`
    Sentence,
}

/// A value, and where it stands.
pub(super) struct Value<'t> {
    pub(super) said: &'t str,
    pub(super) quoted: bool,
    pub(super) link: Link,
    /// The name has capitals only.
    pub(super) upper: bool,
    /// The name has hyphens, as those of headers do.
    pub(super) header: bool,
    /// The name is an option of a command.
    pub(super) option: bool,
    /// There is nothing else on the line.
    pub(super) whole_line: bool,
    /// There is nothing behind it on the line but a comment.
    pub(super) ends_line: bool,
    /// The byte behind it.
    pub(super) next: u8,
}

impl Value<'_> {
    /// Whether it is assigned as in an environment or to an option: not by a program.
    fn set(&self) -> bool {
        self.link == Link::Tight && (self.upper || self.option) && !self.quoted
    }
}

/// Whether the value of a name that tells this is a secret.
pub(super) fn is_secret(telling: Telling, value: &Value<'_>) -> bool {
    let said = value.said;
    if !value.quoted && !value.set() && shape::code(said) {
        return false;
    }
    let looks = match telling {
        Telling::Password if value.quoted => quoted_password(value),
        Telling::Password => bare_password(value),
        Telling::Secret => shape::generated(said, 3.5) || made_up_secret(value),
        Telling::Token | Telling::Key => {
            // A header's value is no variable: less has to speak for it, as for gitleaks' `curl-auth-header`.
            let bits = if value.header && value.link == Link::Colon {
                2.75
            } else {
                3.5
            };
            shape::generated(said, bits)
        }
        Telling::Authorization | Telling::Cookie | Telling::SetCookie => false,
    };
    looks && !shape::word(said) && !shape::reference(said) && !shape::placeholder(said)
}

/// Whether a value beside a telling name in data, where everything is a literal, is a secret.
pub(super) fn is_secret_datum(telling: Telling, said: &str) -> bool {
    match telling {
        Telling::Authorization => {
            let (scheme, secret) = said.split_once(' ').unwrap_or(("", said));
            is_credential(secret, !scheme.is_empty(), true)
        }
        Telling::Cookie | Telling::SetCookie => said
            .split(';')
            .filter_map(|pair| pair.split_once('='))
            .any(|(key, value)| is_cookie(key, value)),
        Telling::Password | Telling::Secret | Telling::Token | Telling::Key => is_secret(
            telling,
            &Value {
                said,
                quoted: true,
                link: Link::Colon,
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

fn quoted_password(value: &Value<'_>) -> bool {
    let said = value.said;
    let shape = Shape::of(said);
    if shape.length < 4 || said.ends_with("()") {
        return false;
    }
    if shape.blanks > 0 && sentence(said, &shape) {
        return false;
    }
    let letters_only = shape.digits == 0 && shape.other == 0;
    // A label, a type: `Password`, `String`.
    if letters_only && shape.upper == 1 && said.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    // The name of a field: `new_password`, `userPassword`.
    let named =
        shape.digits == 0 && shape::identifier(said) && super::names::telling(said).is_some();
    let parted = shape.other > 0 || (shape.upper > 0 && shape.upper < shape.letters);
    if named && parted {
        return false;
    }
    let alone = matches!(value.link, Link::Call | Link::Blank);
    !alone || shape.mixed() || shape.odd > 0
}

/// Whether a quoted text is something that is said to people.
fn sentence(said: &str, shape: &Shape) -> bool {
    let begins = said.trim_start().starts_with(|c: char| c.is_uppercase());
    let ends = said.trim_end().ends_with(['.', '?', ':', '!']);
    let about = shape::contains(shape::sample(said), b"passw");
    begins || ends || about || shape.blanks > 5 || said.starts_with(' ')
}

fn bare_password(value: &Value<'_>) -> bool {
    let said = value.said;
    let shape = Shape::of(said);
    if shape.length < 3 {
        return false;
    }
    let constant = shape.digits == 0 && shape.letters == shape.upper && shape.upper > 0;
    if value.set() {
        return !constant;
    }
    let lively = shape.mixed() || shape.odd > 0;
    match value.link {
        Link::Option => lively && shape.length >= 4,
        Link::Sentence => sentence_password(said, &shape),
        Link::Tight | Link::Equals | Link::Colon => {
            let separated = matches!(value.next, b',' | b';' | b')' | b'}');
            if value.link == Link::Tight && value.whole_line && !shape::identifier(said) {
                return true;
            }
            if value.link == Link::Tight && value.whole_line && !said.contains(['_', '.']) {
                return !constant;
            }
            if value.link == Link::Colon && value.upper && value.ends_line {
                return !constant;
            }
            if shape.digits == shape.length {
                return shape.length >= 6;
            }
            if value.link == Link::Equals && !value.ends_line {
                return false;
            }
            // A variable: `password: hash2,`, `user.pass2`.
            let variable = shape::identifier(said)
                && (said.contains('.') || (separated && value.link != Link::Tight));
            lively
                && shape.length >= 4
                && !variable
                && !(shape.other > 0 && shape.odd == 0 && shape::wordy(said))
        }
        Link::Element | Link::Call | Link::Blank => false,
    }
}

/// `the password is hunter2horse!`: only what no sentence has.
fn sentence_password(said: &str, shape: &Shape) -> bool {
    let counted = said.starts_with(|c: char| c.is_ascii_digit())
        && said
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .chars()
            .all(char::is_alphabetic);
    shape.length >= 6 && shape.mixed() && !said.contains(['-', '/', '_', '.', '=']) && !counted
}

/// A secret that a person made up, in a literal or a variable of the environment.
fn made_up_secret(value: &Value<'_>) -> bool {
    let shape = Shape::of(value.said);
    (value.quoted || value.set())
        && shape.length >= 8
        && shape.blanks == 0
        && shape.mixed()
        && !shape::wordy(value.said)
        && !matches!(value.link, Link::Call | Link::Blank)
}

/// Whether what stands behind the scheme of an `Authorization` header is a secret.
pub(super) fn is_credential(said: &str, scheme: bool, quoted: bool) -> bool {
    if shape::placeholder(said) || shape::word(said) || (!quoted && shape::code(said)) {
        return false;
    }
    if !scheme {
        return shape::generated(said, 2.75);
    }
    let shape = Shape::of(said);
    let inner_capitals = shape.upper > 0
        && shape.upper < shape.letters
        && said
            .get(1..)
            .is_some_and(|s| s.contains(|c: char| c.is_ascii_uppercase()));
    let encoded = shape.digits > 0 || inner_capitals || said.ends_with('=');
    let name = shape::identifier(said) && said.contains(['_', '.']) && shape::wordy(said);
    shape.length >= 6 && encoded && !name
}

/// Whether a cookie carries something secret.
pub(super) fn is_cookie(key: &str, said: &str) -> bool {
    let key = key.trim();
    let said = said.trim();
    let about = ["path", "domain", "expires", "max-age", "samesite"];
    if about.iter().any(|name| name.eq_ignore_ascii_case(key)) || key.contains(' ') {
        return false;
    }
    let shape = Shape::of(said);
    let mixed = shape.mixed() || (shape.upper > 0 && shape.upper < shape.letters);
    shape.length >= 6 && mixed && !shape::placeholder(said) && !shape::code(said)
}

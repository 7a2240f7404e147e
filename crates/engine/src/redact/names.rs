//! Whether the name of a thing tells that its value is a secret.

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// A person may have made it up: any value counts.
    Password,
    /// A value that looks like nothing else counts.
    Secret,
    /// Only what looks generated counts: there are many tokens and keys that are none.
    Token,
    /// As tokens, by the name of a key.
    Key,
    /// `Authorization`, with a scheme before the secret.
    Authorization,
    /// A list of cookies.
    Cookie,
    /// A cookie with its attributes.
    SetCookie,
}

impl Telling {
    /// What the mark says.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Key => "key",
            Self::Authorization => "authorization",
            Self::Cookie | Self::SetCookie => "cookie",
        }
    }
}

/// Most words of a name that are looked at.
const WORDS_MAX: usize = 12;

/// What words for a password end in that are no word for one in other company: `bypass`, `compass`.
const PASS: [&str; 3] = ["sshpass", "userpass", "dbpass"];

/// What makes a key a secret one.
const KEY_OF: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "master",
    "account",
    "service",
    "shared",
    "storage",
    "admin",
    "license",
    "deploy",
    "webhook",
    "integration",
    "subscription",
    "client",
    "hmac",
    "jwt",
    "crypto",
    "write",
    "ingest",
    "app",
    "application",
    "consumer",
    "role",
    "session",
    "cookie",
    "ssh",
];
const KEY_ENDS: &[&str] = &[
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "accountkey",
    "masterkey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "sharedkey",
    "licensekey",
];

/// Words behind the telling one that make it the name of something else.
const ABOUT: &[&str] = &[
    "type",
    "name",
    "names",
    "url",
    "uri",
    "path",
    "paths",
    "file",
    "filename",
    "field",
    "fields",
    "length",
    "len",
    "size",
    "count",
    "limit",
    "max",
    "min",
    "expiry",
    "expires",
    "expiration",
    "ttl",
    "endpoint",
    "header",
    "headers",
    "prefix",
    "policy",
    "hint",
    "label",
    "title",
    "placeholder",
    "error",
    "errors",
    "message",
    "regex",
    "regexp",
    "pattern",
    "strength",
    "reset",
    "required",
    "enabled",
    "disabled",
    "valid",
    "invalid",
    "version",
    "format",
    "column",
    "param",
    "params",
    "class",
    "env",
    "var",
    "ref",
    "id",
    "ids",
    "algorithm",
    "alg",
    "provider",
    "service",
    "store",
    "manager",
    "generator",
    "validator",
    "confirmation",
    "input",
    "form",
    "page",
    "view",
    "rule",
    "rules",
    "changed",
    "at",
    "age",
    "date",
    "time",
    "created",
    "updated",
    "scope",
    "scopes",
    "lifetime",
    "usage",
    "budget",
    "index",
    "pos",
    "position",
    "kind",
    "cost",
    "hash",
    "digest",
    "fingerprint",
    "checksum",
    "location",
    "address",
    "domain",
    "source",
    "mode",
    "state",
    "status",
    "code",
    "description",
    "help",
    "text",
    "rotation",
    "vault",
    "schema",
    "model",
    "info",
    "metadata",
];
/// Words before it that do so.
const BEFORE: &[&str] = &[
    "is",
    "has",
    "have",
    "show",
    "hide",
    "forgot",
    "forgotten",
    "reset",
    "invalid",
    "wrong",
    "missing",
    "require",
    "requires",
    "required",
    "verify",
    "validate",
    "check",
    "hashed",
    "num",
    "max",
    "min",
    "no",
    "not",
    "without",
    "public",
    "publishable",
    "page",
    "continuation",
    "by",
    "bypass",
    "compass",
];

/// What this name, in whatever spelling, tells.
pub(super) fn telling(name: &str) -> Option<Telling> {
    let mut words = [""; WORDS_MAX];
    let count = split(name, &mut words);
    let words = &words[..count];
    for (at, word) in words.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied();
        let Some(telling) = of_word(word, before) else {
            continue;
        };
        let about = words[at + 1..].iter().any(|word| among(word, ABOUT));
        let other = words[..at].iter().any(|word| among(word, BEFORE));
        return (!about && !other).then_some(telling);
    }
    None
}

fn of_word(word: &str, before: Option<&str>) -> Option<Telling> {
    let is = |other: &str| word.eq_ignore_ascii_case(other);
    let ends = |end: &str| {
        let cut = word.len().checked_sub(end.len());
        cut.and_then(|cut| word.get(cut..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    let password = |words: &[&str]| words.iter().any(|word| ends(word));
    // By the last letter first: most words are none of these.
    match word.as_bytes().last()?.to_ascii_lowercase() {
        b'd' if password(&["password", "passwd", "pwd"]) => Some(Telling::Password),
        b'e' if password(&["passphrase"]) || is("passcode") => Some(Telling::Password),
        b's' if is("pass") || password(&PASS) || is("passwords") => Some(Telling::Password),
        b't' if ends("passwort") => Some(Telling::Password),
        b't' if ends("secret") => Some(Telling::Secret),
        b'n' if ends("token") => Some(Telling::Token),
        b'h' if is("auth") => Some(Telling::Token),
        b'r' if is("bearer") => Some(Telling::Token),
        b'l' if is("credential") => Some(Telling::Token),
        b's' if is("credentials") || is("creds") => Some(Telling::Token),
        b'n' if is("authorization") => Some(Telling::Authorization),
        b'e' if is("cookie") => match before {
            Some(before) if before.eq_ignore_ascii_case("set") => Some(Telling::SetCookie),
            Some(_) | None => Some(Telling::Cookie),
        },
        b'y' if is("key") => before
            .is_some_and(|before| among(before, KEY_OF))
            .then_some(Telling::Key),
        b'y' if ends("key") && KEY_ENDS.iter().any(|end| ends(end)) => Some(Telling::Key),
        _ => None,
    }
}

fn among(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Splits a name into its words, numbers at their ends left out; how many there are.
fn split<'n>(name: &'n str, words: &mut [&'n str; WORDS_MAX]) -> usize {
    let bytes = name.as_bytes();
    let mut count = 0;
    let mut start = 0;
    for at in 0..=bytes.len() {
        let here = bytes.get(at).copied().unwrap_or(b'_');
        let before = at.checked_sub(1).map_or(b'_', |at| bytes[at]);
        let next = bytes.get(at + 1).copied().unwrap_or(b'_');
        let hump = here.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && next.is_ascii_lowercase()));
        let ends = !here.is_ascii_alphanumeric();
        if !hump && !ends {
            continue;
        }
        let word = name.get(start..at).unwrap_or_default();
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if !word.is_empty() && count < WORDS_MAX {
            words[count] = word;
            count += 1;
        }
        start = if ends { at + 1 } else { at };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let password = Some(Telling::Password);
        for (name, expected) in [
            ("password", password),
            ("DB_PASSWORD", password),
            ("dbPassword2", password),
            ("PGPASSWORD", password),
            ("spring.datasource.password", password),
            ("pass", password),
            ("passed", None),
            ("password_hash", None),
            ("is_password", None),
            ("forgot-password", None),
            ("secret_key_base", Some(Telling::Key)),
            ("SECRET_KEY_BASE", Some(Telling::Key)),
            ("clientSecret", Some(Telling::Secret)),
            ("secretName", None),
            ("APIKey", Some(Telling::Key)),
            ("x-api-key", Some(Telling::Key)),
            ("primary_key", None),
            ("public_api_key", None),
            ("key", None),
            ("_authToken", Some(Telling::Token)),
            ("max_tokens", None),
            ("token_count", None),
            ("Authorization", Some(Telling::Authorization)),
            ("Set-Cookie", Some(Telling::SetCookie)),
            ("author", None),
        ] {
            assert_eq!(telling(name), expected, "{name}");
        }
    }
}

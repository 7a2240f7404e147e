//! Classification of names whose values are secrets.

/// Kind of secret that a name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretNameKind {
    /// A password, which a person may have chosen: any value counts.
    Password,
    /// A secret: a value counts if it looks generated, looks chosen by a person, or is a long number.
    Secret,
    /// A token: only a value that looks generated counts, because many tokens are not secret.
    Token,
    /// A key with a word that makes it secret; treated like a token.
    Key,
    /// A key with an unknown word: stricter, because many keys are for lookup and not secret.
    OtherKey,
    /// A number of four to eight digits.
    Pin,
    /// The long number of an API client.
    ClientId,
    /// A one-time password, or its seed.
    Otp,
    /// A seed: the words of a wallet, or a random value.
    Phrase,
    /// `Authorization`, with a scheme before the secret.
    Authorization,
    /// A list of cookies.
    Cookie,
    /// A cookie with its attributes.
    SetCookie,
}

impl SecretNameKind {
    /// Returns the kind for the mark.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Key | Self::OtherKey => "key",
            Self::Pin => "pin",
            Self::ClientId => "client-id",
            Self::Otp => "otp",
            Self::Phrase => "seed",
            Self::Authorization => "authorization",
            Self::Cookie | Self::SetCookie => "cookie",
        }
    }
}

/// Maximum number of words of a name that are inspected.
const WORDS_MAX: usize = 12;

/// Words that end in `pass` and do not denote a password.
const OTHER_PASS: [&str; 8] = [
    "bypass",
    "compass",
    "encompass",
    "trespass",
    "surpass",
    "overpass",
    "underpass",
    "keepass",
];

/// Words before `key` that make it secret.
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
    "preshared",
];
/// Words before `phrase` that make it secret.
const PHRASE_OF: &[&str] = &["seed", "recovery", "mnemonic", "backup", "secret", "wallet"];
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
    "presharedkey",
];

/// Words after the secret word that make the name one of something else.
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
    "by",
];
/// Words before the secret word that make the name one of something else.
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

/// Words before `key` that make it a key for lookup, for sorting, on a keyboard, or public; grouped by first letter.
const LOOKUP_KEYS: [&str; 26] = [
    "a accel alt another answer any arrow artifact asset attr attribute",
    "binding blob branch bucket build business",
    "cache candidate cargo class cluster clustering column commit component composite conf config content context ctrl",
    "data database db dedup dedupe dep dependency dict dictionary digest distribution document",
    "each enter entity entry error esc escape etag event every",
    "feature field file filter fingerprint first flag foreign function",
    "gpg group",
    "hash header host hot html",
    "i18n id idempotency image index integrity invalid issue item",
    "job join json",
    "keyboard",
    "label last left list localization lock log lookup",
    "map md5 measurement memo message meta metric modifier module",
    "name natural new next node null",
    "object old on option order other",
    "package param parent partition path pgp press prev primary project prop property pub",
    "query queue",
    "react record redis ref reference registry resource return right root routing row",
    "s3 same search segment setting settings sha shard shift shortcut site snapshot sort source space state sub super surrogate",
    "tab table tag target task test that the this thumb topic translation tree type",
    "unique user uuid",
    "vapid verification verify verifying version",
    "websocket",
    "xml",
    "yaml",
    "",
];

/// Classifies a name in any spelling.
pub(super) fn classify_name(name: &str) -> Option<SecretNameKind> {
    let mut words = [""; WORDS_MAX];
    let count = split(name, &mut words);
    let words = &words[..count];
    for (at, word) in words.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied();
        let Some(name_kind) = classify_word(word, before) else {
            continue;
        };
        let about = words[at + 1..]
            .iter()
            .any(|word| contains_word(word, ABOUT));
        let other = words[..at].iter().any(|word| contains_word(word, BEFORE));
        return (!about && !other).then_some(name_kind);
    }
    None
}

fn classify_word(word: &str, before: Option<&str>) -> Option<SecretNameKind> {
    let is = |other: &str| word.eq_ignore_ascii_case(other);
    let ends = |end: &str| {
        let cut = word.len().checked_sub(end.len());
        cut.and_then(|cut| word.get(cut..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    let password = |words: &[&str]| words.iter().any(|word| ends(word));
    // Dispatch on the last letter: most words match none of these.
    match word.as_bytes().last()?.to_ascii_lowercase() {
        b'd' if password(&["password", "passwd", "pwd"]) => Some(SecretNameKind::Password),
        b'e' if password(&["passphrase"]) || is("passcode") => Some(SecretNameKind::Password),
        b's' if is("passwords") => Some(SecretNameKind::Password),
        b's' if ends("pass") && !OTHER_PASS.iter().any(|word| is(word)) => {
            Some(SecretNameKind::Password)
        }
        b'h' if is("masterauth") => Some(SecretNameKind::Password),
        b'w' if is("bindpw") || is("rootpw") || is("userpw") => Some(SecretNameKind::Password),
        b't' if ends("passwort") => Some(SecretNameKind::Password),
        b't' if ends("secret") => Some(SecretNameKind::Secret),
        b'n' if ends("token") => Some(SecretNameKind::Token),
        b'h' if is("auth") => Some(SecretNameKind::Token),
        b'r' if is("bearer") => Some(SecretNameKind::Token),
        b'l' if is("credential") => Some(SecretNameKind::Token),
        b's' if is("credentials") || is("creds") => Some(SecretNameKind::Token),
        b'n' if is("authorization") => Some(SecretNameKind::Authorization),
        b'e' if is("cookie") => match before {
            Some(before) if before.eq_ignore_ascii_case("set") => Some(SecretNameKind::SetCookie),
            Some(_) | None => Some(SecretNameKind::Cookie),
        },
        b'y' if is("key") => match before? {
            before if contains_word(before, KEY_OF) => Some(SecretNameKind::Key),
            before if is_lookup_key(before) => None,
            _ => Some(SecretNameKind::OtherKey),
        },
        // `Pw` is a question mark at the end of base64.
        b'w' if is("pw") => {
            let hump = word.starts_with('P') && word.ends_with('w');
            let small = before.is_some_and(|before| before.bytes().all(|b| b.is_ascii_lowercase()));
            (!hump || small).then_some(SecretNameKind::Password)
        }
        b'k' if is("psk") => Some(SecretNameKind::Password),
        b'n' if is("pin") => Some(SecretNameKind::Pin),
        b'p' if is("otp") || is("totp") || is("hotp") => Some(SecretNameKind::Otp),
        b'd' if is("seed") => Some(SecretNameKind::Phrase),
        b'd' if is("id") => match before {
            Some(before) if before.eq_ignore_ascii_case("client") => Some(SecretNameKind::ClientId),
            Some(_) | None => None,
        },
        b'd' if is("cred") => Some(SecretNameKind::Token),
        b'c' if is("mnemonic") => Some(SecretNameKind::Phrase),
        b'e' if is("phrase") => match before {
            Some(before) if contains_word(before, PHRASE_OF) => Some(SecretNameKind::Phrase),
            Some(_) | None => None,
        },
        b'm' if is("com") => match before {
            Some(before) if before.eq_ignore_ascii_case("contribsys") => {
                Some(SecretNameKind::Token)
            }
            Some(_) | None => None,
        },
        b'y' if ends("key") && KEY_ENDS.iter().any(|end| ends(end)) => Some(SecretNameKind::Key),
        _ => None,
    }
}

fn is_lookup_key(word: &str) -> bool {
    let first = word.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    let group = first.checked_sub(b'a').map(usize::from);
    let words = group.and_then(|at| LOOKUP_KEYS.get(at)).unwrap_or(&"");
    words
        .split(' ')
        .any(|other| word.eq_ignore_ascii_case(other))
}

fn contains_word(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Splits a name into words without trailing digits; returns their number.
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
mod tests;

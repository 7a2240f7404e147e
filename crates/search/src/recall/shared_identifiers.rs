//! Identifiers that connect records: paths, symbols, tickets, error codes, URLs, and keys.
//!
//! Two records with the same rare identifier are about the same thing, even if they share no other word. Unlike the
//! names of the relevance model, identifiers exclude numbers, versions and abbreviations.

use heirloom_model::kinds::Knowledge;
use heirloom_model::{Kind, Record, limits};
use serde_json::Value;
use std::collections::HashSet;

/// Attributes whose texts are read for identifiers.
const COMPLEMENTS: [&str; 3] = ["rationale", "resolution", "outcome"];
/// Minimum length of an identifier, bytes.
const BYTES_MIN: usize = 3;
/// Characters that end an identifier.
const SEPARATORS: [char; 15] = [
    ',', ';', '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '=', '|', '*',
];
/// Characters that are no part of an identifier at its end.
const AT_END: [char; 6] = ['.', ':', '!', '?', '/', '`'];
/// Prefixes of standards, which look like tickets: `UTF-8`, `SHA-256`.
const STANDARDS: [&str; 7] = ["UTF", "SHA", "ISO", "AES", "RSA", "RFC", "IPV"];
/// Error names of the operating system and of package managers, without their first letter.
const ERROR_NAMES: [&str; 36] = [
    "ACCES",
    "ADDRINUSE",
    "ADDRNOTAVAIL",
    "AGAIN",
    "BADF",
    "BUSY",
    "CANCELED",
    "CONNABORTED",
    "CONNREFUSED",
    "CONNRESET",
    "DEADLK",
    "DQUOT",
    "EXIST",
    "FAULT",
    "HOSTUNREACH",
    "INTEGRITY",
    "INTR",
    "INVAL",
    "ISDIR",
    "LIFECYCLE",
    "LOOP",
    "MFILE",
    "NAMETOOLONG",
    "NETUNREACH",
    "NFILE",
    "NOENT",
    "NOMEM",
    "NOSPC",
    "NOTDIR",
    "NOTEMPTY",
    "NOTFOUND",
    "PERM",
    "PIPE",
    "RESOLVE",
    "ROFS",
    "TIMEDOUT",
];

/// Returns the distinct identifiers of a record: its key, then those of its text and of its complements, in order. At
/// most [`limits::HOP_IDENTIFIERS_MAX`].
pub fn record_identifiers(record: &Record) -> Vec<String> {
    let complements = COMPLEMENTS.iter().filter_map(|name| record.attr_str(name));
    let texts = std::iter::once(record.text.as_str()).chain(complements);
    let of_texts = texts.flat_map(text_identifiers);
    let mut seen = HashSet::new();
    let distinct = own_key(record)
        .into_iter()
        .chain(of_texts)
        .filter(|identifier| seen.insert(identifier.to_lowercase()));
    distinct
        .take(limits::HOP_IDENTIFIERS_MAX)
        .map(str::to_owned)
        .collect()
}

/// Returns true if the text, the key or an attribute of a record has the identifier as a whole word, in any case.
pub fn has_identifier(record: &Record, identifier: &str) -> bool {
    let identifier = identifier.to_lowercase();
    let attributes = record.attrs.values().filter_map(Value::as_str);
    std::iter::once(record.text.as_str())
        .chain(record.key.as_deref())
        .chain(attributes)
        .any(|text| contains_word(&text.to_lowercase(), &identifier))
}

/// Returns the key of a record if a caller gave it, unless it is a plain word.
fn own_key(record: &Record) -> Option<&str> {
    let key = record.key.as_deref()?;
    let is_given = record.kind == Kind::Knowledge && !Knowledge::is_derived_key(key);
    let is_plain = key.chars().all(char::is_alphabetic);
    (is_given && !is_plain && has_fitting_length(key)).then_some(key)
}

/// Returns the identifiers of a text in order, with repetitions.
fn text_identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .take(limits::RECALL_PAIR_WORDS_MAX)
        .flat_map(word_identifiers)
        .filter(|identifier| has_fitting_length(identifier))
}

/// Returns the identifiers of one word: of `` `user_id=5` `` the first part.
fn word_identifiers(word: &str) -> Vec<&str> {
    if let Some(at) = word.find("http://").or_else(|| word.find("https://")) {
        let url = word.get(at..).unwrap_or_default();
        let end = url.find(['`', '<', '>', '"', '\'', ')', ']']);
        let url = end.and_then(|end| url.get(..end)).unwrap_or(url);
        return vec![url.trim_end_matches(AT_END)];
    }
    if let Some(span) = code_span(word) {
        return vec![without_line_number(span)];
    }
    word.split(|c| SEPARATORS.contains(&c) || c == '`')
        .map(|part| without_line_number(part.trim_end_matches(AT_END)))
        .filter(|part| is_identifier(part))
        .collect()
}

/// Returns the content of a code span of one word.
fn code_span(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once('`')?;
    let (span, _) = rest.split_once('`')?;
    let has_letter = span.chars().any(char::is_alphabetic);
    has_letter.then_some(span)
}

/// Removes the line and column of a place: `src/a.rs:12:5`.
fn without_line_number(word: &str) -> &str {
    let mut rest = word;
    while let Some((before, number)) = rest.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        rest = before;
    }
    rest
}

fn has_fitting_length(identifier: &str) -> bool {
    (BYTES_MIN..=limits::HOP_IDENTIFIER_BYTES_MAX).contains(&identifier.len())
}

fn is_identifier(word: &str) -> bool {
    is_ticket(word) || is_error_code(word) || is_symbol(word) || is_dotted(word) || is_path(word)
}

/// Returns true for `ABC-123` and `#123`.
fn is_ticket(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return is_number(number);
    }
    let Some((project, number)) = word.split_once('-') else {
        return false;
    };
    let is_project = (2..=10).contains(&project.len())
        && project.starts_with(|c: char| c.is_ascii_uppercase())
        && (project.bytes()).all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    is_project && is_number(number) && !STANDARDS.contains(&project)
}

/// Returns true for `E0502`, `TS2345` and `ECONNRESET`.
fn is_error_code(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - number.len();
    let is_numbered = (1..=5).contains(&letters)
        && number.len() >= 3
        && number.bytes().all(|byte| byte.is_ascii_digit());
    is_numbered
        || word
            .strip_prefix('E')
            .is_some_and(|name| ERROR_NAMES.contains(&name))
}

/// Returns true for `snake_case`, `camelCase`, `a::b` and `--flag`.
fn is_symbol(word: &str) -> bool {
    let has_letter = || word.chars().any(char::is_alphabetic);
    let has_hump = || {
        let mut pairs = word.as_bytes().windows(2);
        pairs.any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
    };
    let has_join = word.trim_matches('_').contains('_') || word.contains("::");
    (has_join && has_letter()) || has_hump() || (word.starts_with("--") && has_letter())
}

/// Returns true for file names and dotted names: `a.rs`, `hooks.learn`; not for `e.g` and `1.2.3`.
fn is_dotted(word: &str) -> bool {
    let Some((before, last)) = word.rsplit_once('.') else {
        return false;
    };
    let mut parts = before.split('.').chain([last]);
    let is_word = |part: &str| {
        part.starts_with(char::is_alphabetic)
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    word.split('.').any(|part| part.len() > 1) && parts.all(is_word)
}

/// Returns true for `src/a.rs` and `/etc/hosts`; not for `and/or`.
fn is_path(word: &str) -> bool {
    let is_rooted = word.starts_with(['/', '~', '.']);
    let has_mark =
        || word.contains(['.', '_', '-']) || word.bytes().any(|byte| byte.is_ascii_digit());
    word.contains('/')
        && word.chars().any(char::is_alphabetic)
        && (is_rooted || word.matches('/').count() > 1 || has_mark())
}

/// Returns true if `text` has `word` with no letter, digit or underscore next to it. Both are in lower case.
fn contains_word(text: &str, word: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: usize| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_inside) && !after.is_some_and(is_inside)
    };
    text.match_indices(word).any(|(at, _)| is_whole(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::record;
    use serde_json::json;

    fn identifiers(text: &str) -> Vec<&str> {
        text_identifiers(text).collect()
    }

    #[test]
    fn identifiers_of_each_sort_are_found() {
        for (text, expected) in [
            (
                "see src/auth/login.rs:12:5, please",
                &["src/auth/login.rs"][..],
            ),
            (
                "edit `Makefile`'s rule, and /etc/hosts.",
                &["Makefile", "/etc/hosts"],
            ),
            (
                "retry_budget=5 (maxRetries)",
                &["retry_budget", "maxRetries"],
            ),
            ("`a::b` and io::Error: bad", &["a::b", "io::Error"]),
            ("PAY-1234 fixes #812!", &["PAY-1234", "#812"]),
            (
                "E0502 or TS2345, ECONNRESET",
                &["E0502", "TS2345", "ECONNRESET"],
            ),
            (
                "(https://ci.example.org/job/7).",
                &["https://ci.example.org/job/7"],
            ),
            (
                "hooks.learn in config.toml: --keep-emptied",
                &["hooks.learn", "config.toml", "--keep-emptied"],
            ),
        ] {
            assert_eq!(identifiers(text), expected, "{text}");
        }
    }

    #[test]
    fn words_numbers_and_abbreviations_are_no_identifiers() {
        let text = "The API and/or TCP/IP, e.g. UTF-8, SHA-256, v1.2.3, 1.2.3, 24/7, ERROR, EVERY, 8080, 2026-05-01 `12` #1 n/a it's -- _ __ . / `` `";
        assert_eq!(identifiers(text), Vec::<&str>::new());
    }

    #[test]
    fn identifiers_of_record_begin_with_its_key_and_are_distinct_and_few() {
        let mut one = record("`a_b`, A_B, c_d");
        one.kind = Kind::Knowledge;
        one.key = Some("db.port".to_owned());
        one.attrs
            .insert("rationale".to_owned(), json!("see e_f and g_h"));
        let all = record_identifiers(&one);
        assert_eq!(all, ["db.port", "a_b", "c_d", "e_f"]);
        assert_eq!(all.len(), limits::HOP_IDENTIFIERS_MAX);
        for key in ["deployment", "0123456789abcdef"] {
            one.key = Some(key.to_owned());
            assert_eq!(record_identifiers(&one), ["a_b", "c_d", "e_f", "g_h"]);
        }
    }

    #[test]
    fn longer_identifier_is_ignored() {
        let longest = format!("a_{}", "b".repeat(limits::HOP_IDENTIFIER_BYTES_MAX - 2));
        assert_eq!(identifiers(&longest), [&longest]);
        assert!(identifiers(&format!("{longest}b")).is_empty());
    }

    #[test]
    fn record_has_identifier_as_whole_word_in_any_field() {
        let mut one = record("In SRC/A.RS the port is 1");
        one.key = Some("mail.port".to_owned());
        one.attrs
            .insert("resolution".to_owned(), json!("fixed by PAY-12"));
        for identifier in ["src/a.rs", "a.rs", "mail.port", "pay-12", "PAY-12"] {
            assert!(has_identifier(&one, identifier), "{identifier}");
        }
        for identifier in ["rc/a.rs", "src/a.r", "pay-1", "mail_port"] {
            assert!(!has_identifier(&one, identifier), "{identifier}");
        }
    }
}

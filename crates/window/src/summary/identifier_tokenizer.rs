//! Tokenizer for identifiers: `[A-Za-z_][\w./-]{5,}`, in one pass over the bytes.

use super::identity_hasher::IdentityHasher;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::LazyLock;

/// Longer tokens are data, not identifiers.
const TOKEN_BYTES_MAX: usize = 160;
/// Shorter tokens are cheaper to look up than to keep.
const TOKEN_BYTES_MIN: usize = 6;

const START: u8 = 1;
const MORE: u8 = 2;

/// Class of each ASCII byte: start or continuation of an identifier.
const CLASS: [u8; 128] = {
    let mut class = [0_u8; 128];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        if c.is_ascii_alphabetic() || c == b'_' {
            class[byte] = START | MORE;
        } else if c.is_ascii_digit() || matches!(c, b'.' | b'/' | b'-') {
            class[byte] = MORE;
        }
        byte += 1;
    }
    class
};

/// Syntax of the scanned text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextSyntax {
    /// Plain text.
    Plain,
    /// JSON: an escape sequence is not part of an identifier, and keys are skipped.
    Json,
}

/// Calls `found` with the range of each token, in order.
pub(super) fn scan(text: &str, writing: TextSyntax, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\\' && writing == TextSyntax::Json {
            at += if bytes.get(at + 1) == Some(&b'u') {
                6
            } else {
                2
            };
            continue;
        }
        if byte >= 128 || CLASS[usize::from(byte)] & START == 0 {
            at += 1;
            continue;
        }
        let start = at;
        at = token_end(text, at + 1);
        let end = start + text[start..at].trim_end_matches(['.', '-']).len();
        let is_key = writing == TextSyntax::Json
            && bytes[..start].last() == Some(&b'"')
            && bytes[end..].starts_with(b"\":");
        if (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&(end - start)) && !is_key {
            found(start..end);
        }
    }
}

/// Returns the end of the token that contains `at`.
fn token_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte < 128 {
            if CLASS[usize::from(byte)] & MORE == 0 {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(c) if c.is_alphanumeric() => at += c.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

/// Returns true if a token looks like an identifier in code or a path, and not like a natural-language word.
pub(super) fn is_code_like(token: &str) -> bool {
    let bytes = token.as_bytes();
    let mut before = b' ';
    for &byte in bytes {
        if matches!(byte, b'_' | b'/' | b'.' | b'-')
            || byte.is_ascii_digit()
            || (byte.is_ascii_uppercase() && before.is_ascii_lowercase())
        {
            return true;
        }
        before = byte;
    }
    false
}

/// Returns true if a token looks like a path: text on both sides of a slash.
pub(super) fn is_path(token: &str) -> bool {
    let Some((_, name)) = token.trim_end_matches('/').rsplit_once('/') else {
        return false;
    };
    name.len() > 1
}

/// Hashes a token to 64 bits; a collision merges two tokens, which is harmless.
pub(super) fn hash(token: &str) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = token.len() as u64;
    for chunk in token.as_bytes().chunks(8) {
        let mut word = [0_u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    hash
}

/// Stop words of at least the minimum length; sorted.
const STOP_WORDS: [&str; 112] = [
    "actually",
    "additional",
    "afterwards",
    "against",
    "almost",
    "already",
    "although",
    "always",
    "another",
    "anything",
    "around",
    "available",
    "because",
    "become",
    "becomes",
    "before",
    "behind",
    "better",
    "between",
    "cannot",
    "certain",
    "clearly",
    "closely",
    "contains",
    "correct",
    "correctly",
    "could've",
    "couldn",
    "currently",
    "despite",
    "different",
    "directly",
    "doesn't",
    "during",
    "either",
    "enough",
    "ensure",
    "especially",
    "even",
    "everything",
    "exactly",
    "example",
    "existing",
    "explore",
    "finally",
    "follow",
    "following",
    "follows",
    "further",
    "getting",
    "given",
    "happens",
    "having",
    "however",
    "including",
    "indeed",
    "inside",
    "instead",
    "itself",
    "likely",
    "little",
    "looking",
    "looks",
    "matters",
    "maybe",
    "merely",
    "needed",
    "nothing",
    "number",
    "original",
    "otherwise",
    "outside",
    "people",
    "perhaps",
    "please",
    "possible",
    "previous",
    "probably",
    "properly",
    "rather",
    "really",
    "remain",
    "return",
    "right",
    "second",
    "several",
    "should",
    "shouldn",
    "similar",
    "simply",
    "someone",
    "something",
    "specific",
    "suppose",
    "themselves",
    "therefore",
    "things",
    "though",
    "through",
    "together",
    "toward",
    "trying",
    "understand",
    "unless",
    "various",
    "whatever",
    "whether",
    "within",
    "without",
    "working",
    "wouldn",
    "yourself",
];

/// Hashes of the stop words, so that most words need one lookup.
static STOP_WORD_HASHES: LazyLock<HashSet<u64, BuildHasherDefault<IdentityHasher>>> =
    LazyLock::new(|| STOP_WORDS.iter().map(|word| hash(word)).collect());

/// Returns true if a word with this hash is a stop word.
pub(super) fn is_stop_word(word: &str, hashed: u64) -> bool {
    if word.len() > 16 {
        return false;
    }
    let first = word.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    if first {
        return STOP_WORD_HASHES.contains(&hash(&word.to_ascii_lowercase()));
    }
    STOP_WORD_HASHES.contains(&hashed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_matches_expression() {
        let check = |text: &str, writing, expect: &[&str]| {
            let mut found = Vec::new();
            scan(text, writing, |at| found.push(text[at].to_owned()));
            assert_eq!(found, expect, "{text}");
        };
        check(
            "see /src/foo/bar.py.",
            TextSyntax::Plain,
            &["src/foo/bar.py"],
        );
        check(
            "12abcdef short a.b.c-d-",
            TextSyntax::Plain,
            &["abcdef", "a.b.c-d"],
        );
        check(
            r#"{"p":"x\nimport_os\u00e9again"}"#,
            TextSyntax::Json,
            &["import_os"],
        );
        check(
            r#"{"file_path":"dir/name.rs"}"#,
            TextSyntax::Json,
            &["dir/name.rs"],
        );
        check("naïveté_x – done", TextSyntax::Plain, &["naïveté_x"]);
        check(&"x".repeat(161), TextSyntax::Plain, &[]);
    }

    #[test]
    fn stop_words_are_sorted() {
        let empty = |word: &str| is_stop_word(word, hash(word));
        assert!(STOP_WORDS.is_sorted());
        assert!(empty("Already") && empty("because") && !empty("ordinal"));
    }

    #[test]
    fn identifiers_are_distinguished_from_words() {
        for name in ["snake_case", "camelCase", "a/b/c", "v1beta", "x.y", "a-b"] {
            assert!(is_code_like(name), "{name}");
        }
        assert!(!is_code_like("Changes"));
        assert!(is_path("src/lib.rs") && is_path("a/folder/") && !is_path("module.name"));
    }
}

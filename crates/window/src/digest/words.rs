//! Tokens of a text that may be names: `[A-Za-z_][\w./-]{5,}`, found in one pass over the bytes.

use super::names::Same;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::LazyLock;

/// What is longer is no name but data.
const LONGEST: usize = 160;
/// What is shorter is cheaper to find again than to keep.
const SHORTEST: usize = 6;

const START: u8 = 1;
const MORE: u8 = 2;

/// What each byte may be in a name.
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

/// How the text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As it is.
    Plain,
    /// As JSON: a backslash and what follows it is no part of a name, and a key is none.
    Json,
}

/// Calls `found` with the place of each token, in order.
pub(super) fn scan(text: &str, writing: Writing, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\\' && writing == Writing::Json {
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
        at = run(text, at + 1);
        let end = start + text[start..at].trim_end_matches(['.', '-']).len();
        let is_key = writing == Writing::Json
            && bytes[..start].last() == Some(&b'"')
            && bytes[end..].starts_with(b"\":");
        if (SHORTEST..=LONGEST).contains(&(end - start)) && !is_key {
            found(start..end);
        }
    }
}

/// Where the name ends of which `at` is inside.
fn run(text: &str, mut at: usize) -> usize {
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

/// Whether a token looks like a name in code or a path, and not like a word of a language.
pub(super) fn is_shaped(token: &str) -> bool {
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

/// Whether a token looks like the path of a file or a folder: it has a slash, and something on both sides.
pub(super) fn is_path(token: &str) -> bool {
    let Some((_, name)) = token.trim_end_matches('/').rsplit_once('/') else {
        return false;
    };
    name.len() > 1
}

/// Sixty-four bits that stand for a token; two tokens that share them are one, and nothing worse happens.
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

/// Words that every text has and that name nothing, longest forms included; sorted.
const EMPTY: [&str; 112] = [
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

/// The hashes of those words: most words are looked up once.
static EMPTY_HASHES: LazyLock<HashSet<u64, BuildHasherDefault<Same>>> =
    LazyLock::new(|| EMPTY.iter().map(|word| hash(word)).collect());

/// Whether a word with that hash says nothing of what a conversation is about.
pub(super) fn is_empty_word(word: &str, hashed: u64) -> bool {
    if word.len() > 16 {
        return false;
    }
    let first = word.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    if first {
        return EMPTY_HASHES.contains(&hash(&word.to_ascii_lowercase()));
    }
    EMPTY_HASHES.contains(&hashed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_expression() {
        let check = |text: &str, writing, expect: &[&str]| {
            let mut found = Vec::new();
            scan(text, writing, |at| found.push(text[at].to_owned()));
            assert_eq!(found, expect, "{text}");
        };
        check("see /src/foo/bar.py.", Writing::Plain, &["src/foo/bar.py"]);
        check(
            "12abcdef short a.b.c-d-",
            Writing::Plain,
            &["abcdef", "a.b.c-d"],
        );
        check(
            r#"{"p":"x\nimport_os\u00e9again"}"#,
            Writing::Json,
            &["import_os"],
        );
        check(
            r#"{"file_path":"dir/name.rs"}"#,
            Writing::Json,
            &["dir/name.rs"],
        );
        check("naïveté_x – done", Writing::Plain, &["naïveté_x"]);
        check(&"x".repeat(161), Writing::Plain, &[]);
    }

    #[test]
    fn empty_words_are_sorted() {
        let empty = |word: &str| is_empty_word(word, hash(word));
        assert!(EMPTY.is_sorted());
        assert!(empty("Already") && empty("because") && !empty("ordinal"));
    }

    #[test]
    fn names_are_told_from_words() {
        for name in ["snake_case", "camelCase", "a/b/c", "v1beta", "x.y", "a-b"] {
            assert!(is_shaped(name), "{name}");
        }
        assert!(!is_shaped("Changes"));
        assert!(is_path("src/lib.rs") && is_path("a/folder/") && !is_path("module.name"));
    }
}

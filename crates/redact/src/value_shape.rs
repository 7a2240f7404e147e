//! Classification of values by their characters: secret, word, code, or placeholder.

mod fillers;
mod word_lists;

use super::entropy::entropy;
pub(super) use fillers::{dull_tail, has_random_part, is_documented_key, is_placeholder, unwrap};
use word_lists::WORDS;

/// Number of bytes of a value that are inspected: the beginning shows the kind of a value.
pub(super) const SAMPLE_BYTES: usize = 256;

/// Character statistics of a value.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ValueShape {
    pub(super) length: usize,
    pub(super) letters: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    /// Bytes that are neither letters nor digits.
    pub(super) other: usize,
    pub(super) blanks: usize,
    /// Bytes that tokens do not contain: other than letters, digits and `_ . = + / ~ - :`.
    pub(super) odd: usize,
    /// Digits that are followed by a letter in the same word.
    pub(super) turns: usize,
    pub(super) hex: bool,
}

impl ValueShape {
    pub(super) fn of(value: &str) -> Self {
        let bytes = sample(value);
        let mut shape = Self {
            length: value.len(),
            hex: true,
            ..Self::default()
        };
        let mut before = 0u8;
        for &byte in bytes {
            if byte.is_ascii_digit() {
                shape.digits += 1;
            } else if byte.is_ascii_alphabetic() || byte >= 0x80 {
                shape.letters += 1;
                shape.upper += usize::from(byte.is_ascii_uppercase());
                shape.turns += usize::from(before.is_ascii_digit());
            } else {
                shape.other += 1;
                shape.blanks += usize::from(byte.is_ascii_whitespace());
                shape.odd += usize::from(!b"_.=+/~-:".contains(&byte));
            }
            shape.hex &= byte.is_ascii_hexdigit();
            before = byte;
        }
        shape
    }

    pub(super) fn has_letters_and_digits(&self) -> bool {
        self.letters > 0 && self.digits > 0
    }
}

pub(super) fn sample(value: &str) -> &[u8] {
    let bytes = value.as_bytes();
    bytes.get(..SAMPLE_BYTES).unwrap_or(bytes)
}

/// Returns the longest prefix of a value of at most `bytes_max` bytes that ends between characters.
pub(super) fn prefix(value: &str, bytes_max: usize) -> &str {
    let mut end = value.len().min(bytes_max);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}

/// Returns true if a value looks like a generated key, by length, mixture and entropy.
///
/// The threshold of 3.5 bits and the minimum length of 10 are those of gitleaks' `generic-api-key`. A short value
/// cannot have as many bits, and hexadecimal digits cannot have more than 4; their thresholds are lower.
pub(super) fn is_generated(value: &str, bits_min: f64) -> bool {
    let shape = ValueShape::of(value);
    if is_pair(value) || is_uuid(value) {
        return true;
    }
    if shape.length < 10 || shape.odd > 0 || is_wordy(value) {
        return false;
    }
    if !shape.has_letters_and_digits() && !has_random_case(value) {
        return false;
    }
    let most = (shape.length as f64).log2();
    let least = match shape.hex {
        true if shape.length >= 32 => 3.0,
        true if shape.length >= 16 => 2.75,
        _ if shape.length >= 14 => most * 0.78,
        _ => bits_min,
    };
    entropy(sample(value)) >= least.min(bits_min)
}

/// Returns true if a value is a long random mixture of letters, digits and signs, as generators of salts write it.
pub(super) fn is_generated_with_signs(value: &str) -> bool {
    let shape = ValueShape::of(value);
    (32..=SAMPLE_BYTES).contains(&shape.length)
        && shape.odd >= 4
        && shape.digits > 0
        && shape.upper > 0
        && shape.upper < shape.letters
        && shape.blanks * 8 <= shape.length
        && entropy(sample(value)) >= 4.5
}

/// Returns true if letters alone are random: the case changes as often as by chance.
fn has_random_case(value: &str) -> bool {
    let shape = ValueShape::of(value);
    shape.length >= 16 && shape.upper > 0 && case_changes(value) * 10 >= sample(value).len() * 3
}

/// Counts the neighbouring letters that differ in case.
fn case_changes(value: &str) -> usize {
    let pairs = sample(value).windows(2);
    pairs
        .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase())
        .count()
}

/// Returns true if the text after the prefix of a format is a name: words without digits, in which capitals only
/// begin words.
pub(super) fn is_name_like(body: &str) -> bool {
    let bytes = sample(body);
    let letter = |b: &u8| b.is_ascii_alphabetic() || b"_-.".contains(b);
    if bytes.len() < 10 || !bytes.iter().all(letter) || !bytes.iter().any(u8::is_ascii_lowercase) {
        return false;
    }
    // Abbreviations in names are short.
    let mut capitals = bytes.split(|b| !b.is_ascii_uppercase());
    if capitals.any(|run| run.len() > 3) {
        return false;
    }
    let few_humps = case_changes(body) * 4 < bytes.len() || hump_count(body) * 5 <= bytes.len();
    few_humps && is_spoken(bytes)
}

/// Returns true if letters can be pronounced: words have two fifths vowels and no long run of consonants, random
/// letters have one fifth vowels.
fn is_spoken(bytes: &[u8]) -> bool {
    let vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    let vowels = bytes.iter().filter(|b| vowel(b)).count();
    let mut runs = bytes.split(|b| vowel(b) || !b.is_ascii_alphabetic());
    vowels * 100 >= bytes.len() * 28 && runs.all(|run| run.len() < 6)
}

/// Returns true if a value is two secrets with a separator: the number and the token of an application, or the name
/// and the password of a package server.
pub(super) fn is_pair(value: &str) -> bool {
    if let Some((number, token)) = value.split_once('|') {
        let token_ok = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        return (15..=16).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
            && (27..=40).contains(&token.len())
            && token.bytes().all(token_ok);
    }
    value.split_once(':').is_some_and(|(name, password)| {
        let hex = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_hexdigit());
        hex(name) && hex(password)
    })
}

/// Returns true if a value is a random UUID.
fn is_uuid(value: &str) -> bool {
    let bytes = value.as_bytes();
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() == 36 && bytes.iter().enumerate().all(fits) && entropy(bytes) >= 2.75
}

/// Returns true if a value is a long number without a pattern, as the numbers of API clients are.
pub(super) fn is_long_number(value: &str) -> bool {
    let mut seen = [false; 10];
    for byte in value.bytes() {
        if !byte.is_ascii_digit() {
            return false;
        }
        seen[usize::from(byte - b'0')] = true;
    }
    (15..=64).contains(&value.len()) && seen.iter().filter(|seen| **seen).count() >= 5
}

/// Returns true if a value is a seed phrase of a wallet.
pub(super) fn is_seed_phrase(value: &str) -> bool {
    let mut count = 0;
    for word in value.split([' ', ',']).filter(|word| !word.is_empty()) {
        count += 1;
        let plain = word.bytes().all(|b| b.is_ascii_lowercase());
        if !plain || !(3..=8).contains(&word.len()) || count > 24 {
            return false;
        }
    }
    [12, 15, 18, 21, 24].contains(&count)
}

/// Returns true if a value consists of words and small numbers, as names do: `access_token_v2`.
pub(super) fn is_wordy(value: &str) -> bool {
    let value = String::from_utf8_lossy(sample(value));
    value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(|part| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = part.len() - letters.len();
            let most = if letters.is_empty() { 4 } else { 3 };
            let plain = letters.chars().all(char::is_alphabetic);
            // Capitals inside of words do not occur in names.
            digits <= most
                && plain
                && letters.len() <= 24
                && hump_count(letters) * 3 <= letters.len() + 2
                && (letters.len() < 12 || case_changes(letters) * 10 < letters.len() * 4)
        })
}

/// Counts the changes from small to capital letters.
fn hump_count(word: &str) -> usize {
    let pairs = word.as_bytes().windows(2);
    pairs
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count()
}

/// Returns true if a value is one of [`WORDS`].
pub(super) fn is_known_word(value: &str) -> bool {
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Returns true if `bytes` contain `part` in any case; `part` has small letters.
pub(super) fn contains_ignoring_case(bytes: &[u8], part: &[u8]) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window.eq_ignore_ascii_case(part))
}

/// Returns true if a value is a path, an address, or the name of another item.
pub(super) fn is_reference(value: &str) -> bool {
    if value.contains("://") {
        return true;
    }
    let path = value.starts_with('/')
        || value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with("~/");
    if path {
        return ValueShape::of(value).upper == 0 && is_wordy(value);
    }
    let dotted = value.contains(['.', ':', '/']) && !value.ends_with(['.', ':', '/']);
    let named = |c: char| c.is_ascii_alphabetic() || "_.:/-".contains(c);
    dotted && value.chars().all(named)
}

/// Returns true if a value is an identifier, or several with dots between them.
pub(super) fn is_identifier(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.$".contains(&b))
}

/// Returns true if an unquoted value is program code: a call, an index, a path, an operator.
pub(super) fn is_code(value: &str) -> bool {
    let value = prefix(value, SAMPLE_BYTES);
    let inside = ["::", "->", "})", ")}", "))", "}}"];
    value.contains(['(', '[', '{', '|'])
        || value.starts_with(['&', '*', '!', '@'])
        || inside.iter().any(|part| value.contains(part))
}

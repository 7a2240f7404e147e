//! Check of word-based findings by sentence vectors.
//!
//! Words find the pairs; vectors only reject some of them. Vectors alone are no reason: of the pairs of commit messages
//! with a cosine of 0.75 or more that share few words, one in ten states the same.

use heirloom_model::{Record, RecordId};
use std::collections::{BTreeSet, HashMap};

/// Cosine below which two texts with nearly the same words state different things.
const DUPLICATE_COSINE_MIN: f32 = 0.86;
/// Cosine below which two texts that differ in one word are about different things.
const CONTRADICTION_COSINE_MIN: f32 = 0.6;
/// Words that take a text back or name a part of it. Two texts state the same only if both have the same of them.
const REVERSALS: [&str; 12] = [
    "addendum", "contd", "never", "no", "not", "part", "revert", "reverted", "reverts", "stop",
    "undo", "without",
];
/// Words before a value.
const BEFORE_VALUES: [&str; 10] = [
    "are", "be", "default", "is", "named", "runs", "use", "uses", "was", "=",
];

/// Returns true unless the vectors or a reversal show that two texts with nearly the same words state different
/// things.
pub(super) fn is_same_by_vectors(
    one: &Record,
    other: &Record,
    vectors: &HashMap<RecordId, Vec<f32>>,
) -> bool {
    let Some(cosine) = cosine(one, other, vectors) else {
        return true;
    };
    let (one, other) = (words(&one.text), words(&other.text));
    let reversals = |words: &[String]| -> BTreeSet<String> {
        let all = words.iter().filter(|word| REVERSALS.contains(&&***word));
        all.cloned().collect()
    };
    cosine >= DUPLICATE_COSINE_MIN && reversals(&one) == reversals(&other)
}

/// Returns true unless the vectors show that two texts that differ in one word are about different things. The words
/// in which they differ must be values: numbers, versions, or words after `is` and the like.
pub(super) fn is_contradiction_by_vectors(
    one: &Record,
    other: &Record,
    vectors: &HashMap<RecordId, Vec<f32>>,
) -> bool {
    let Some(cosine) = cosine(one, other, vectors) else {
        return true;
    };
    let (one, other) = (words(&one.text), words(&other.text));
    cosine >= CONTRADICTION_COSINE_MIN && has_values(&one, &other) && has_values(&other, &one)
}

/// Returns true if a text has words that the other one has not, and all of them are values.
fn has_values(one: &[String], other: &[String]) -> bool {
    let mut before = "";
    let mut values = 0;
    for word in one {
        if !other.contains(word) {
            let is_value = word.contains(|c: char| c.is_ascii_digit());
            if !is_value && !BEFORE_VALUES.contains(&before) {
                return false;
            }
            values += 1;
        }
        before = word;
    }
    values > 0
}

/// Returns the words in lower case, with the characters that are part of numbers, paths and names.
fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=');
    let words = text.split(|c: char| !is_part(c));
    let words = words.map(|word| word.trim_matches(['.', ':', '-']).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the cosine of the vectors of two records; `None` if one has none.
fn cosine(one: &Record, other: &Record, vectors: &HashMap<RecordId, Vec<f32>>) -> Option<f32> {
    let (one, other) = (vectors.get(&one.id)?, vectors.get(&other.id)?);
    Some(one.iter().zip(other).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::record;

    /// Returns two records with these texts, and vectors whose cosine is `cosine`.
    fn pair(one: &str, other: &str, cosine: f32) -> (Record, Record, HashMap<RecordId, Vec<f32>>) {
        let (one, other) = (record(one), record(other));
        let rest = (1.0 - cosine * cosine).sqrt();
        let vectors = HashMap::from([(one.id, vec![1.0, 0.0]), (other.id, vec![cosine, rest])]);
        (one, other, vectors)
    }

    #[test]
    fn duplicates_need_near_vectors_and_the_same_sign() {
        let check = |one: &str, other: &str, cosine: f32| {
            let (one, other, vectors) = pair(one, other, cosine);
            is_same_by_vectors(&one, &other, &vectors)
        };
        assert!(check("fix a typo in the docs", "fix typo in docs", 0.97));
        assert!(!check(
            "update the man page",
            "update completions and man page",
            0.78
        ));
        assert!(!check("revert \"add python 3.9\"", "add python 3.9", 0.95));
        assert!(!check("never squash commits", "squash commits", 0.95));
        let (one, other, _) = pair("a b", "a b c", 0.1);
        assert!(is_same_by_vectors(&one, &other, &HashMap::new()));
    }

    #[test]
    fn contradictions_differ_in_values() {
        let check = |one: &str, other: &str, cosine: f32| {
            let (one, other, vectors) = pair(one, other, cosine);
            is_contradiction_by_vectors(&one, &other, &vectors)
        };
        let port = "the port of the gateway is 8080";
        assert!(check(port, "the port of the gateway is 9090", 0.96));
        let branch = "the default branch is main";
        assert!(check(branch, "the default branch is trunk", 0.9));
        let syntax = "add syntax tests for Robot";
        assert!(!check(syntax, "add syntax tests for Julia", 0.9));
        assert!(!check(port, "the port of the printer is 8080", 0.9));
        assert!(!check(port, "the port of the gateway is 9090", 0.5));
        let (one, other, _) = pair("use the tabs", "use the spaces", 0.1);
        assert!(is_contradiction_by_vectors(&one, &other, &HashMap::new()));
    }
}

//! Contradictions: what a person said against what an agent proposed.

use heirloom_model::similarity::{ComparableText, has_same_words};
use heirloom_model::{Authority, Record};
use std::collections::BTreeSet;

/// Words that turn a statement into its opposite.
const NEGATIONS: [&str; 17] = [
    "no",
    "not",
    "never",
    "don't",
    "dont",
    "doesn't",
    "isn't",
    "aren't",
    "won't",
    "can't",
    "cannot",
    "mustn't",
    "shouldn't",
    "without",
    "avoid",
    "stop",
    "nicht",
];
/// Words that only strengthen a statement.
const EMPHASIS: [&str; 8] = [
    "always", "must", "should", "please", "only", "ever", "really", "do",
];
/// Share of common words from which two statements are about the same.
const COMMON_WORDS_MIN: f64 = 0.8;

/// Returns true if a statement of a person retracts a proposal of an agent: the statement names it as wrong, or is
/// the same statement with the opposite sign. When in doubt, it does not.
pub(super) fn is_negated_by(proposal: &Record, statement: &Record) -> bool {
    let is_proposal = proposal.attrs.get("proposal") == Some(&true.into());
    if !is_proposal || Authority::of_record(proposal) != Authority::Agent {
        return false;
    }
    if statement.category() == Some("correction")
        && let Some(wrong) = statement.attr_str("rationale")
    {
        let wrong_words = ComparableText::from_text(wrong);
        let proposed = ComparableText::from_text(&proposal.text);
        if has_same_words(wrong, &proposal.text) || wrong_words.is_near_duplicate(&proposed) {
            return true;
        }
    }
    has_opposite_sign(&proposal.text, &statement.text)
}

/// Returns true if two texts have nearly the same words and only one of them is negated.
fn has_opposite_sign(one: &str, other: &str) -> bool {
    let (first, is_negated) = words_and_sign(one);
    let (second, is_other_negated) = words_and_sign(other);
    let common = first.intersection(&second).count();
    let all = first.union(&second).count();
    is_negated != is_other_negated && common > 1 && common as f64 >= COMMON_WORDS_MIN * all as f64
}

/// Returns the words of a text without negations and emphasis, and true if it is negated.
fn words_and_sign(text: &str) -> (BTreeSet<String>, bool) {
    let mut is_negated = false;
    let mut words = BTreeSet::new();
    for word in heirloom_model::similarity::words(text).split(' ') {
        let plain = word.replace('’', "'");
        if NEGATIONS.contains(&&*plain) {
            is_negated = !is_negated;
        } else if !EMPHASIS.contains(&&*plain) {
            words.insert(plain);
        }
    }
    (words, is_negated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_sign_needs_same_words() {
        for (one, other, is_opposite) in [
            (
                "Use tabs in this project",
                "Never use tabs in this project",
                true,
            ),
            ("Run npm install first", "Don’t run npm install first", true),
            ("Use tabs", "Use spaces", false),
            ("Use tabs", "Never use spaces", false),
            ("Never use tabs", "Don't use tabs", false),
            ("Tests need Docker", "Tests do not need Docker", true),
            ("Tests", "not tests", false),
            ("", "", false),
        ] {
            assert_eq!(
                has_opposite_sign(one, other),
                is_opposite,
                "{one} | {other}"
            );
        }
    }
}

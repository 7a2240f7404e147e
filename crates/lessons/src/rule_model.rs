//! Model of lasting rules: the probability that a sentence of a person outlasts the task.
//!
//! "dont touch the lock file, renovate does that" is a rule, "dont commit yet, i want to look at it first" is not. No
//! single word decides, so the features are classes of words, a few of their combinations, the place of the
//! sentence, and its words and pairs of words; a logistic model weighs them.

mod clauses;
mod coefficients;
mod derived_features;
mod typing_errors;
mod word_classes;
mod word_pairs;
mod word_weights;

use coefficients::{BIAS, COEFFICIENTS};
use derived_features::{DERIVED_COUNT, DERIVED_NAMES, derived_features};
pub(crate) use word_classes::SentenceClasses;
use word_classes::{
    ALWAYS, CHANGE, CLASS_COUNT, CLASS_NAMES, COMPLAINT, CONTRAST, COUNTED, GENERIC, HABIT_START,
    HEDGE, IDLE, LETS_START, MOMENT, OBLIGATION, ONLY, PREFERENCE, PRODUCT, PROHIBITION,
    QUESTION_START, REMINDER, REPORT, SEQUENCE, TASK_START, WORKING,
};
pub(crate) use word_pairs::words_and_pairs;
use word_weights::WORD_WEIGHTS;

const FEATURE_COUNT: usize = CLASS_COUNT + DERIVED_COUNT;

/// Names of the features, in order.
pub const RULE_FEATURES: [&str; FEATURE_COUNT] = {
    let mut names = [""; FEATURE_COUNT];
    let mut at = 0;
    while at < FEATURE_COUNT {
        names[at] = if at < CLASS_COUNT {
            CLASS_NAMES[at]
        } else {
            DERIVED_NAMES[at - CLASS_COUNT]
        };
        at += 1;
    }
    names
};

/// Place of a sentence in the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one feature")]
pub struct SentencePlace {
    /// It is a question.
    pub is_question: bool,
    /// It follows an interrupt or a rejected call.
    pub follows_stop: bool,
    /// It is the reason of a rejected call.
    pub is_rejection: bool,
    /// The turn has no other sentence.
    pub is_alone: bool,
    /// The sentence before it complains ("why did you run everything again?").
    pub follows_complaint: bool,
    /// The turn is the first one of the session.
    pub is_first_prompt: bool,
}

/// Weights in the order of the features. One that is in no fit yet has none.
const WEIGHTS: [f32; FEATURE_COUNT] = {
    let mut weights = [0.0; FEATURE_COUNT];
    let mut at = 0;
    while at < FEATURE_COUNT {
        let mut known = 0;
        while known < COEFFICIENTS.len() {
            let (name, weight) = COEFFICIENTS[known];
            if is_same(name.as_bytes(), RULE_FEATURES[at].as_bytes()) {
                weights[at] = weight;
            }
            known += 1;
        }
        at += 1;
    }
    weights
};

/// Returns true for the same bytes, in a constant.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Values of [`RULE_FEATURES`], each 0 or 1.
pub type RuleFeatures = [f32; FEATURE_COUNT];

/// Returns the probability that a sentence with these features is a lasting rule.
pub(crate) fn rule_probability(features: &RuleFeatures, classes: &SentenceClasses) -> f32 {
    let weighted = features.iter().zip(WEIGHTS);
    let words = words_and_pairs(classes);
    let words = words.iter().filter_map(|word| {
        let at = WORD_WEIGHTS.binary_search_by(|(known, _)| (*known).cmp(word.as_str()));
        WORD_WEIGHTS.get(at.ok()?).map(|(_, weight)| weight)
    });
    let odds = BIAS + weighted.map(|(value, weight)| value * weight).sum::<f32>();
    1.0 / (1.0 + (-odds - words.sum::<f32>()).exp())
}

/// Returns true if the sentence has more words than those about remembering ("Remember that!", "ok noted").
pub(crate) fn has_content(classes: &SentenceClasses) -> bool {
    classes.other_words > 0 || classes.is_unspaced() || classes.has(GENERIC)
}

/// Returns true if the sentence states a wish.
pub(crate) fn is_preference(classes: &SentenceClasses) -> bool {
    classes.has(PREFERENCE)
}

/// Returns true if the sentence complains about what the agent did.
pub(crate) fn is_complaint(classes: &SentenceClasses) -> bool {
    classes.has(COMPLAINT)
}

/// Returns true if the sentence names what works.
pub(crate) fn is_working(classes: &SentenceClasses) -> bool {
    classes.has(WORKING)
}

/// Returns true if the sentence neither forbids nor compares.
pub(crate) fn is_description(classes: &SentenceClasses) -> bool {
    !classes.has(PROHIBITION) && !classes.has(CONTRAST)
}

/// Returns true if the sentence demands something, and does not only describe.
pub(crate) fn is_demand(classes: &SentenceClasses) -> bool {
    const CLASSES: [usize; 8] = [
        ALWAYS,
        CONTRAST,
        HABIT_START,
        OBLIGATION,
        ONLY,
        PREFERENCE,
        PROHIBITION,
        REMINDER,
    ];
    CLASSES.iter().any(|class| classes.has(*class))
}

/// Returns true if the sentence forbids something.
pub(crate) fn is_prohibition(classes: &SentenceClasses) -> bool {
    classes.has(PROHIBITION)
}

/// Returns true if the sentence is about the task at hand: a request, a report, a question, or about this moment.
pub(crate) fn is_of_task(classes: &SentenceClasses) -> bool {
    const CLASSES: [usize; 10] = [
        TASK_START,
        LETS_START,
        MOMENT,
        REPORT,
        IDLE,
        PRODUCT,
        SEQUENCE,
        COUNTED,
        HEDGE,
        QUESTION_START,
    ];
    classes.states_fact() || CLASSES.iter().any(|class| classes.has(*class))
}

/// Returns true if the sentence changes what was decided earlier.
pub(crate) fn is_change(classes: &SentenceClasses) -> bool {
    classes.has(CHANGE)
}

/// Returns the features of a sentence with its classes.
pub(crate) fn sentence_features(
    classes: &SentenceClasses,
    sentence: &str,
    place: SentencePlace,
) -> RuleFeatures {
    let derived = derived_features(classes, sentence, place);
    let mut all = [0.0; FEATURE_COUNT];
    let present = (0..CLASS_COUNT)
        .map(|class| classes.has(class))
        .chain(derived);
    for (value, is_present) in all.iter_mut().zip(present) {
        *value = f32::from(u8::from(is_present));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_a_coefficient_and_words_are_in_order() {
        let names: Vec<&str> = COEFFICIENTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, RULE_FEATURES);
        assert!(WORD_WEIGHTS.is_sorted_by(|one, next| one.0 < next.0));
        assert!(WORD_WEIGHTS.len() > 100);
    }

    #[test]
    fn words_change_the_probability() {
        let probability = |sentence: &str| {
            let classes = SentenceClasses::read(sentence);
            let place = SentencePlace::default();
            rule_probability(&sentence_features(&classes, sentence, place), &classes)
        };
        let rule = probability("from now on we never push to main");
        assert!(rule > 0.6, "{rule}");
        let request = probability("can you look at the log");
        assert!(request < 0.2, "{request}");
        let words = words_and_pairs(&SentenceClasses::read("Use 42 tabs"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words, ["0", "0 tabs", "^ use", "tabs", "use", "use 0"]);
    }
}

//! Model of lasting rules: the probability that a sentence of a person outlasts the task.
//!
//! "dont touch the lock file, renovate does that" is a rule, "dont commit yet, i want to look at it first" is not. No
//! single word decides, so the features are classes of words, a few of their combinations, and the place of the
//! sentence; a logistic model weighs them.

mod coefficients;
mod typing_errors;
mod word_classes;

use crate::code_tokens::{TokenKind, code_tokens};
use coefficients::{BIAS, COEFFICIENTS};
pub(crate) use word_classes::SentenceClasses;
use word_classes::{
    ALWAYS, CHANGE, CLASS_COUNT, CLASS_NAMES, CODE, COMPLAINT, GENERIC, LETS_START, MOMENT,
    OBLIGATION, PREFERENCE, PRODUCT, PROHIBITION, REMINDER, WORKING, is_connector, is_mark_token,
};

/// Number of words up to which a sentence is short, and from which on it is long.
const SHORT_WORDS: usize = 3;
const LONG_WORDS: usize = 31;
/// Determiners before the subject of a general statement.
const DETERMINERS: [&str; 14] = [
    "the", "our", "all", "any", "every", "each", "new", "a", "an", "these", "those", "for", "in",
    "your",
];
/// Words in `s` that are no plural nouns.
const NO_PLURALS: [&str; 26] = [
    "always",
    "does",
    "fails",
    "gets",
    "goes",
    "has",
    "heres",
    "its",
    "lets",
    "looks",
    "needs",
    "ours",
    "perhaps",
    "says",
    "seems",
    "sometimes",
    "thanks",
    "thats",
    "theres",
    "this",
    "unless",
    "was",
    "whats",
    "works",
    "yes",
    "besides",
];
/// Negations after a comma: "allowlist, not whitelist".
const NEGATIONS: [&str; 12] = [
    "not", "no", "nicht", "pas", "não", "non", "niet", "nie", "inte", "не", "ikke", "kein",
];
/// Words before `not` in a statement; other words are what the sentence prefers ("use rg not grep").
const AUXILIARIES: [&str; 30] = [
    "am", "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "if", "is",
    "its", "may", "might", "must", "or", "shall", "should", "so", "still", "was", "were", "why",
    "will", "would", "thats", "please", "just",
];
/// Words after `no` that name no thing.
const NO_THINGS: [&str; 20] = [
    "i", "you", "we", "it", "its", "that", "thats", "this", "the", "they", "need", "longer",
    "more", "idea", "problem", "one", "not", "dont", "worries", "and",
];
/// First words that refer to something outside of the sentence.
const REFERENCES: [&str; 9] = [
    "it", "its", "this", "that", "there", "theres", "they", "these", "thats",
];
/// Features that are no classes.
const DERIVED_NAMES: [&str; DERIVED_COUNT] = [
    "plural",
    "code",
    "number",
    "question",
    "short",
    "long",
    "prohibition_general",
    "obligation_general",
    "prohibition_moment",
    "obligation_product",
    "reminder_request",
    "comma_not",
    "unspaced",
    "prohibition_first",
    "plural_subject",
    "we_subject",
    "reference_subject",
    "you_subject",
    "after_stop",
    "rejection",
    "alone",
    "first_prompt",
    "working_code",
    "after_complaint",
    "no_thing",
    "one_not_other",
];
const DERIVED_COUNT: usize = 26;
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

/// Values of [`RULE_FEATURES`], each 0 or 1.
pub type RuleFeatures = [f32; FEATURE_COUNT];

/// Returns the probability that a sentence with these features is a lasting rule.
pub(crate) fn rule_probability(features: &RuleFeatures) -> f32 {
    let weighted = features.iter().zip(COEFFICIENTS);
    let odds = BIAS + weighted.map(|(value, weight)| value * weight).sum::<f32>();
    1.0 / (1.0 + (-odds).exp())
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
    let tokens = &classes.tokens;
    let words: Vec<&str> = (tokens.iter().map(String::as_str))
        .filter(|token| !is_mark_token(token))
        .collect();
    let has = |class: usize| classes.has(class);
    let has_plural = words.iter().any(|word| is_plural(word));
    let is_general = has_plural || has(GENERIC) || has(ALWAYS);
    let pairs = || tokens.iter().zip(tokens.iter().skip(1));
    let mut content = words.iter().filter(|word| !is_connector(word));
    let first = content.next().copied().unwrap_or_default();
    let mut subject = words
        .iter()
        .filter(|word| !is_connector(word) && !DETERMINERS.contains(word));
    let starts_with_prohibition = classes.first.get(PROHIBITION).copied().flatten();
    let is_prohibition_first = starts_with_prohibition
        .and_then(|at| classes.starts.get(at))
        .is_some_and(|start| *start);
    let has_code = words.contains(&CODE)
        || code_tokens(sentence)
            .iter()
            .any(|token| token.kind == TokenKind::Code);
    let has_number = sentence.contains("://") || words.iter().any(|word| is_number(word));
    let is_request = has(LETS_START) || place.is_question;
    let derived: [bool; DERIVED_COUNT] = [
        has_plural,
        has_code,
        has_number,
        place.is_question,
        words.len() <= SHORT_WORDS,
        words.len() >= LONG_WORDS,
        has(PROHIBITION) && is_general && !has(MOMENT),
        has(OBLIGATION) && is_general && !has(MOMENT),
        has(PROHIBITION) && has(MOMENT),
        has(OBLIGATION) && has(PRODUCT),
        has(REMINDER) && is_request,
        pairs().any(|(mark, word)| mark == "," && NEGATIONS.contains(&word.as_str())),
        classes.is_unspaced(),
        is_prohibition_first,
        subject.next().is_some_and(|word| is_plural(word)),
        first == "we",
        REFERENCES.contains(&first),
        words
            .iter()
            .find(|word| **word == "you" || !is_connector(word))
            == Some(&"you"),
        place.follows_stop,
        place.is_rejection,
        place.is_alone,
        place.is_first_prompt,
        has(WORKING) && has_code,
        place.follows_complaint,
        pairs().any(|(no, next)| no == "no" && is_thing(next)),
        tokens.windows(3).any(|three| match three {
            [one, not, _] => not == "not" && is_thing(one) && !AUXILIARIES.contains(&one.as_str()),
            _ => false,
        }),
    ];
    let mut all = [0.0; FEATURE_COUNT];
    let present = (0..CLASS_COUNT).map(has).chain(derived);
    for (value, is_present) in all.iter_mut().zip(present) {
        *value = f32::from(u8::from(is_present));
    }
    all
}

/// Returns true for an English noun in the plural, as far as its letters show it.
fn is_plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && !NO_PLURALS.contains(&word)
}

/// Returns true for a word that can name a thing.
fn is_thing(word: &str) -> bool {
    !is_mark_token(word) && !is_connector(word) && !NO_THINGS.contains(&word)
}

/// Returns true for a number of two digits or more, or one of an issue.
fn is_number(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_digit())
}

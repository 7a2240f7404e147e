//! Features of a sentence that combine word classes, and its place.

use super::SentencePlace;
use super::clauses::{
    UNIVERSALS, has_definite_object, has_general_condition, has_person_past, is_later,
};
use super::word_classes::{
    ALWAYS, CODE, COMPLAINT, CONTRAST, GENERIC, GOAL, HABIT_START, HEDGE, LASTING, LETS_START,
    MOMENT, OBLIGATION, PRODUCT, PROHIBITION, REMINDER, SentenceClasses, TASK_START, THIS_THING,
    WORKING, is_connector, is_mark_token,
};
use crate::code_tokens::{TokenKind, code_tokens};

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
pub(super) const DERIVED_NAMES: [&str; DERIVED_COUNT] = [
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
    "this_later",
    "hedge_later",
    "universal_obligation",
    "condition_general",
    "goal_wanted",
    "complaint_contrast",
    "lasting_task",
    "lasting_request",
    "person_past",
    "definite_object",
];
/// Number of these features.
pub(super) const DERIVED_COUNT: usize = 36;

/// Returns the features of a sentence that are no classes.
pub(super) fn derived_features(
    classes: &SentenceClasses,
    sentence: &str,
    place: SentencePlace,
) -> [bool; DERIVED_COUNT] {
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
    [
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
        is_later(classes, THIS_THING),
        is_later(classes, HEDGE),
        UNIVERSALS.contains(&first) && has(OBLIGATION) && !has(PRODUCT),
        has_general_condition(tokens),
        has(GOAL) && (has(REMINDER) || has(OBLIGATION) || has(LETS_START)),
        has(COMPLAINT) && has(CONTRAST),
        has(LASTING) && has(TASK_START),
        has(LASTING) && has(LETS_START),
        has_person_past(&words),
        has_definite_object(classes, &[HABIT_START, TASK_START]),
    ]
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

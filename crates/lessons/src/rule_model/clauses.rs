//! Clauses of a sentence: what is in its first clause counts for the rule, the later ones often give only the reason.

use super::word_classes::{SentenceClasses, is_connector, is_mark_token};

/// Words before the first word of another clause.
const JOINTS: [&str; 12] = [
    "and", "but", "so", "because", "since", "cause", "und", "weil", "et", "car", "y", "porque",
];
/// Smallest number of words of a clause before another one.
const CLAUSE_WORDS_MIN: usize = 3;
/// Subjects that name all things of a kind.
pub(super) const UNIVERSALS: [&str; 24] = [
    "every",
    "each",
    "any",
    "anything",
    "everything",
    "everyone",
    "anyone",
    "nobody",
    "nothing",
    "all",
    "no",
    "jeder",
    "jede",
    "jedes",
    "alle",
    "alles",
    "chaque",
    "tous",
    "toutes",
    "cada",
    "todo",
    "todos",
    "todas",
    "tudo",
];
/// Words that begin a condition.
const CONDITIONS: [&str; 14] = [
    "if", "when", "whenever", "once", "before", "after", "wenn", "falls", "sobald", "bevor", "si",
    "quand", "cuando", "quando",
];
/// Words by which a condition is about no certain event.
const INDEFINITES: [&str; 16] = [
    "a",
    "an",
    "any",
    "anything",
    "something",
    "someone",
    "you",
    "we",
    "new",
    "adding",
    "changing",
    "ein",
    "eine",
    "man",
    "un",
    "une",
];
/// Number of words after the beginning of a condition in which it names its event.
const CONDITION_WORDS: usize = 3;
/// Words between a person and what the person did.
const ADVERBS: [&str; 5] = ["also", "just", "already", "have", "ve"];
/// Words in `ed` that are no past.
const NO_PASTS: [&str; 4] = ["need", "indeed", "feed", "embed"];
/// Words before a thing that both know.
const DEFINITES: [&str; 12] = [
    "the", "that", "this", "it", "these", "those", "my", "den", "die", "das", "le", "la",
];

/// Returns true if the sentence has its first phrase of the class after another clause.
pub(super) fn is_later(classes: &SentenceClasses, class: usize) -> bool {
    let Some(at) = classes.first.get(class).copied().flatten() else {
        return false;
    };
    let before = classes.tokens.get(..at).unwrap_or_default();
    let is_joint = |token: &String| is_mark_token(token) || JOINTS.contains(&token.as_str());
    let joint = before.iter().rposition(is_joint);
    let clause = before.get(..joint.unwrap_or_default()).unwrap_or_default();
    let words = clause
        .iter()
        .filter(|token| !is_mark_token(token) && !is_connector(token));
    words.count() >= CLAUSE_WORDS_MIN
}

/// Returns true for a condition about no certain event ("when you bump a dependency").
pub(super) fn has_general_condition(tokens: &[String]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let after = tokens.get(at + 1..).unwrap_or_default();
        CONDITIONS.contains(&token.as_str())
            && (after.iter().take(CONDITION_WORDS)).any(|word| INDEFINITES.contains(&word.as_str()))
    })
}

/// Returns true if a person did something ("i also verified the path").
pub(super) fn has_person_past(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let mut after = words
            .iter()
            .skip(at + 1)
            .filter(|word| !ADVERBS.contains(word));
        matches!(*word, "i" | "we" | "ive" | "weve" | "you" | "youve")
            && after
                .next()
                .is_some_and(|verb| verb.ends_with("ed") && !NO_PASTS.contains(verb))
    })
}

/// Returns true if a verb of these classes has an object that both know ("put the new endpoint next to the old one").
pub(super) fn has_definite_object(classes: &SentenceClasses, verbs: &[usize]) -> bool {
    verbs.iter().any(|class| {
        let at = classes.first.get(*class).copied().flatten();
        let object = at.and_then(|at| classes.tokens.get(at + 1));
        object.is_some_and(|object| DEFINITES.contains(&object.as_str()))
    })
}

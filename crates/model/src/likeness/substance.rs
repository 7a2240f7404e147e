//! What of a text must not differ: numbers, identifiers, paths, negations, names.

use super::hash;

/// Words that turn a statement round.
const NEGATIONS: &[&str] = &[
    "aint", "arent", "cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt",
    "havent", "isnt", "mustnt", "neednt", "neither", "never", "no", "nobody", "none", "nor", "not",
    "nothing", "nowhere", "shouldnt", "wasnt", "werent", "without", "wont", "wouldnt",
];

/// Words without which a statement says something else.
const TURNS: &[&str] = &[
    "after",
    "avoid",
    "before",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "except",
    "false",
    "forbidden",
    "instead",
    "max",
    "maximum",
    "min",
    "minimum",
    "off",
    "only",
    "optional",
    "required",
    "stop",
    "true",
    "unless",
];

/// Numbers as words.
const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "twenty", "hundred", "thousand", "million", "once", "twice", "half",
    "first", "last",
];

/// The substance of a text in its order, and its names: of words as written and as compared.
pub(super) fn of(raw: &[&str], folded: &[String]) -> (Vec<u64>, Vec<u64>) {
    let (mut substance, mut names) = (Vec::new(), Vec::new());
    for (i, (written, word)) in raw.iter().zip(folded).enumerate() {
        let listed = |list: &[&str]| list.contains(&word.as_str());
        if listed(NEGATIONS) {
            // With what it denies: `a, not b` and `b, not a` have the same words.
            let denied = folded.get(i + 1).cloned().unwrap_or_default();
            substance.push(hash(&[&"not".to_owned(), &denied]));
        } else if listed(TURNS) || listed(NUMBERS) || is_code(word) {
            substance.push(hash(&[word]));
        } else if looks_like_a_name(written, i == 0) {
            names.push(hash(&[word]));
        }
    }
    (substance, names)
}

/// Whether a word has digits or signs in it: a number, a path, an identifier.
fn is_code(word: &str) -> bool {
    word.chars().any(|c| !c.is_alphabetic() && c != '\'')
}

/// Whether capitals say that a word is a name; the first word of a text has one anyway.
fn looks_like_a_name(written: &str, is_first: bool) -> bool {
    let mut chars = written.chars();
    let begins_large = chars.next().is_some_and(char::is_uppercase);
    chars.any(char::is_uppercase) || (begins_large && !is_first)
}

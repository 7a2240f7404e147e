//! What a word does to what a text says: nothing, something, or everything.

/// Words that say nothing by themselves. Negations, limits and orders in time are not among them.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "he", "her", "his", "in", "is", "it", "its", "of",
    "on", "our", "she", "that", "the", "their", "there", "these", "they", "this", "those", "to",
    "was", "we", "were", "with",
];

/// Bytes of the longest of them.
const EMPTY_BYTES_MAX: usize = 5;

/// Words that turn a statement round.
const NEGATIONS: &[&str] = &[
    "aint", "arent", "cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt",
    "havent", "isnt", "mustnt", "neednt", "neither", "never", "no", "nobody", "none", "nor", "not",
    "nothing", "nowhere", "shouldnt", "wasnt", "werent", "without", "wont", "wouldnt",
];

/// Words without which a statement says something else.
const TURNS: &[&str] = &[
    "after",
    "always",
    "avoid",
    "before",
    "but",
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
    "may",
    "min",
    "minimum",
    "must",
    "off",
    "only",
    "optional",
    "required",
    "should",
    "sometimes",
    "stop",
    "true",
    "unless",
    "until",
];

/// Numbers as words.
const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "twenty", "hundred", "thousand", "million", "once", "twice", "half",
    "first", "last",
];

/// Whether a word, as compared, says nothing by itself.
pub(super) fn is_empty(word: &str) -> bool {
    word.len() <= EMPTY_BYTES_MAX && EMPTY.contains(&word)
}

/// Whether a word, as it is compared, may not come or go without changing what a text says: a number, a path, an
/// identifier, a negation, a limit. Names are told by how they are written.
pub(super) fn has_substance(word: &str) -> bool {
    [NEGATIONS, TURNS, NUMBERS]
        .iter()
        .any(|list| list.contains(&word))
        || is_code(word)
}

/// Whether a word has digits or signs in it: a number, a path, an identifier.
fn is_code(word: &str) -> bool {
    word.chars().any(|c| !c.is_alphabetic() && c != '\'')
}

/// Whether capitals say that a word is a name; the first word of a text has one anyway.
pub(super) fn looks_like_a_name(written: &str, is_first: bool) -> bool {
    let mut chars = written.chars();
    let begins_large = chars.next().is_some_and(char::is_uppercase);
    chars.any(char::is_uppercase) || (begins_large && !is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_empty_word_is_longer_than_is_looked_for() {
        let longest = EMPTY.iter().map(|word| word.len()).max();
        assert_eq!(longest, Some(EMPTY_BYTES_MAX));
    }
}

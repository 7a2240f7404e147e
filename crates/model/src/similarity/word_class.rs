//! Classes of words by their effect on the meaning of a text: stop words, and significant words.

/// Stop words in order. Negations, limits and temporal order are not among them.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "he", "her", "his", "in", "is", "it", "its", "of",
    "on", "our", "she", "that", "the", "their", "there", "these", "they", "this", "those", "to",
    "was", "we", "were", "with",
];

/// Length of the longest stop word, bytes.
const STOP_WORD_BYTES_MAX: usize = 5;

/// Negations.
const NEGATIONS: &[&str] = &[
    "aint", "arent", "cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt",
    "havent", "isnt", "mustnt", "neednt", "neither", "never", "no", "nobody", "none", "nor", "not",
    "nothing", "nowhere", "shouldnt", "wasnt", "werent", "without", "wont", "wouldnt",
];

/// Words that change the meaning of a statement.
const MODIFIERS: &[&str] = &[
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

/// Returns true if a comparable word is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    word.len() <= STOP_WORD_BYTES_MAX && STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns true if adding or removing the word changes the meaning: a number, a path, an identifier, a negation, a
/// limit. Names are detected by capitals instead.
pub(super) fn is_significant(word: &str) -> bool {
    [NEGATIONS, MODIFIERS, NUMBERS]
        .iter()
        .any(|list| list.contains(&word))
        || has_code_chars(word)
}

/// Returns true if a word has digits or symbols: a number, a path, an identifier.
fn has_code_chars(word: &str) -> bool {
    word.chars().any(|c| !c.is_alphabetic() && c != '\'')
}

/// Returns true if capitals mark a word as a name; the first word of a text may be capitalised anyway.
pub(super) fn looks_like_name(written: &str, is_first: bool) -> bool {
    let mut chars = written.chars();
    let begins_large = chars.next().is_some_and(char::is_uppercase);
    chars.any(char::is_uppercase) || (begins_large && !is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_word_length_limit_matches_list() {
        let longest = STOP_WORDS.iter().map(|word| word.len()).max();
        assert_eq!(longest, Some(STOP_WORD_BYTES_MAX));
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}

//! Names in a text: identifiers, paths, numbers, flags and abbreviations.
//!
//! A record with a name of the question is about the same thing, however common the name is in the memory.

/// Characters around a word that are no part of it.
const AROUND: [char; 11] = ['.', ',', ';', ':', '(', ')', '[', ']', '"', '!', '?'];

/// Returns the words that are names, without the marks around them, in lower case.
pub(super) fn names(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace().filter(|word| is_name(word));
    words.map(|word| {
        word.trim_matches(|c| AROUND.contains(&c) || matches!(c, '\'' | '`'))
            .to_lowercase()
    })
}

fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|c| AROUND.contains(&c) || c == '\'');
    let has_mark = word.contains(['_', '/', '`', '@', '=', '<', '>', '{', '}', '#', '$', '\\']);
    has_mark
        || word.chars().any(|c| c.is_ascii_digit())
        || has_inner_mark(word)
        || is_abbreviation(word)
}

/// Returns true for `a.b` and `camelCase`.
fn has_inner_mark(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.windows(2).any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
        || bytes
            .windows(3)
            .any(|three| matches!(three, [a, b'.', b] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric()))
}

fn is_abbreviation(word: &str) -> bool {
    let is_upper = word.chars().all(|c| !c.is_lowercase()) && word.chars().any(char::is_uppercase);
    is_upper && word.chars().nth(1).is_some()
}

//! Matching of words and phrases in normalized sentences.

use crate::sentences::is_cjk;

/// Returns a sentence in the form that the cues have: lower case, straight apostrophes, single spaces.
pub(crate) fn normalize(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    for c in sentence.chars() {
        match c {
            '’' | '‘' => out.push('\''),
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// Returns true if the character ends a clause.
pub(super) fn ends_clause(c: char) -> bool {
    is_clause_mark(c) || c == ')'
}

pub(super) fn is_clause_mark(c: char) -> bool {
    matches!(
        c,
        ',' | '.' | ';' | ':' | '!' | '?' | '…' | '，' | '。' | '、' | '；' | '：' | '！' | '？'
    )
}

/// Returns true for a character that continues a word of a script with blanks between words.
pub(super) fn is_word_char(c: char) -> bool {
    (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '_' | '-' | '\'')
}

/// Returns true for a character before a word that makes it a part of a longer word, path or name.
pub(super) fn is_joined(c: char) -> bool {
    is_word_char(c) || matches!(c, '/' | '@' | '$' | '#' | '.' | '\\')
}

/// Returns true if the phrase is not a part of a longer word, path or name.
pub(super) fn has_boundaries(before: &str, phrase: &str, after: &str) -> bool {
    let first = phrase.chars().next().unwrap_or(' ');
    let last = phrase.chars().next_back().unwrap_or(' ');
    let before = before.chars().next_back().unwrap_or(' ');
    let mut after = after.chars();
    let next = after.next().unwrap_or(' ');
    let starts = !is_word_char(first) || !is_joined(before);
    // A full stop inside a file name or a path ends no word.
    let is_name =
        matches!(next, '.' | ':') && after.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let goes_on = is_word_char(next) || matches!(next, '/' | '=') || is_name;
    let ends = !is_word_char(last) || last == '\'' || !goes_on;
    starts && ends
}

/// Returns true if `rest` begins with the word or phrase.
pub(crate) fn starts_with_word(rest: &str, word: &str) -> bool {
    // Most words of a list differ in the first byte already.
    if rest.as_bytes().first() != word.as_bytes().first() {
        return false;
    }
    rest.strip_prefix(word).is_some_and(|after| {
        let is_word = word.chars().next_back().is_some_and(is_word_char);
        !is_word || !after.chars().next().is_some_and(is_word_char)
    })
}

/// Returns true if `rest` begins with the word or phrase, or, if `word` begins with `*`, with a word that ends so.
pub(super) fn starts_with_word_or_ending(rest: &str, word: &str) -> bool {
    let Some(ending) = word.strip_prefix('*') else {
        return starts_with_word(rest, word);
    };
    let end = rest.find(|c: char| !is_word_char(c));
    let first = rest.get(..end.unwrap_or(rest.len()));
    first.is_some_and(|first| first.len() > ending.len() + 1 && first.ends_with(ending))
}

/// Returns true if `before` ends with the word or phrase.
pub(crate) fn ends_with_word(before: &str, word: &str) -> bool {
    if before.as_bytes().last() != word.as_bytes().last() {
        return false;
    }
    before.strip_suffix(word).is_some_and(|head| {
        let is_word = word.chars().next().is_some_and(is_word_char);
        !is_word || !head.chars().next_back().is_some_and(is_word_char)
    })
}

/// Returns true if the text contains the word or phrase.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        has_boundaries(before, word, after)
    })
}

/// Returns true if there is a second word and the list does not contain it.
pub(super) fn has_second_word(rest: &str, list: &[&str]) -> bool {
    let second = rest.split(' ').nth(1).unwrap_or_default();
    let word = second.trim_end_matches(|c: char| is_clause_mark(c));
    !word.is_empty() && !list.contains(&word)
}

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

/// Returns true for a mark between clauses.
pub(super) fn is_clause_mark(c: char) -> bool {
    matches!(
        c,
        ',' | '.' | ';' | ':' | '!' | '?' | '…' | '，' | '。' | '、' | '；' | '：' | '！' | '？'
    )
}

/// Returns true for a character that continues a word of a script with blanks between words.
fn is_word_char(c: char) -> bool {
    (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '_' | '-' | '\'')
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

/// Returns true if the text contains the word or phrase, not as a part of a longer word.
pub(crate) fn contains_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at + phrase.len()).unwrap_or_default();
        let after = text.get(at..).unwrap_or_default();
        ends_with_word(before, phrase) && starts_with_word(after, phrase)
    })
}

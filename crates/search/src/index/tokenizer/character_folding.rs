//! Folding of characters: case and accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Appends a word to `folded` in lower case and without accents.
pub(super) fn fold(word: &str, folded: &mut String) {
    let lower = word.chars().flat_map(char::to_lowercase);
    folded.extend(lower.nfd().filter(|char| !is_combining_mark(*char)));
}

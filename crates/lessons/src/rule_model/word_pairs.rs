//! Words and pairs of words of a sentence, whose weights are fitted without classes: they know what no list of words does,
//! such as "as well" or "to be".

use super::word_classes::SentenceClasses;
use std::collections::BTreeSet;

/// Word in place of a number.
const NUMBER: &str = "0";
/// Mark before the first word of a sentence in a pair.
const START: &str = "^";

/// Returns the words of a sentence and its pairs of neighbouring words, each once. A pair has a blank between its words;
/// the first one is of the beginning and the first word.
pub(crate) fn words_and_pairs(classes: &SentenceClasses) -> BTreeSet<String> {
    let word = |token: &'_ String| -> String {
        match token
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_digit())
        {
            true => NUMBER.to_owned(),
            false => token.clone(),
        }
    };
    let words: Vec<String> = classes.tokens.iter().map(word).collect();
    let first = words.first().map(|first| format!("{START} {first}"));
    let pairs = words.iter().zip(words.iter().skip(1));
    let pairs: BTreeSet<String> = pairs.map(|(one, next)| format!("{one} {next}")).collect();
    words.into_iter().chain(pairs).chain(first).collect()
}

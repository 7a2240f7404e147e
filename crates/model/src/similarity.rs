//! Text similarity: equality up to formatting, and near-duplicates. The one measure for keys, contexts, recall, reviews
//! and lessons.
//!
//! Two texts are equal if they differ only in the form of their characters (NFC, NFD) and, in prose, in case, spacing
//! and punctuation; [`words`] is that normal form. Code keeps its case and its marks: `-v` and `-V` are two options,
//! `user.save` and `user.save!` two methods.
//! Near-duplicates are equal without articles and polite words. Any other additional or different word makes a
//! difference, so a negation in any language does.

mod echo;
mod word_class;
mod word_splitter;

pub use echo::{EchoedQuestion, is_echo};

use crate::text::to_composed;
use std::borrow::Cow;
use std::collections::BTreeSet;
use word_class::WordClass;
use word_splitter::{SplitWord, is_apostrophe, split_words};

/// Returns true if two texts are equal up to the case, spacing and punctuation of prose.
pub fn has_same_words(a: &str, b: &str) -> bool {
    a == b || words(a) == words(b)
}

/// Returns the normal form of a text for equality.
///
/// Composes characters. Folds the case of prose: not of code, such as words in backticks, options and paths, and not of
/// `PATH` and `parseUrl`. Removes quotes, brackets and sentence punctuation from the edges of words; keeps characters
/// inside words and significant ones (`-1`, `--force`, `.env`, `C++`, `50%`). A text of only punctuation stays as it
/// is.
pub fn words(text: &str) -> String {
    let text = &*to_composed(text);
    let is_shouted = is_shouted(text);
    let split = split_words(text);
    if split.is_empty() {
        let lower = text.to_lowercase();
        return lower.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let folded: Vec<_> = (split.into_iter())
        .map(|word| fold_word(word, is_shouted))
        .collect();
    folded.join(" ")
}

/// A text prepared for comparison with many others.
///
/// All words are in one buffer: a context compares hundreds of texts, and an allocation a word would cost more than the
/// comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparableText {
    /// The words in order, without separators.
    folded: String,
    words: Vec<WordEnd>,
}

/// End of a word in the buffer; each word begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WordEnd {
    end: usize,
    class: WordClass,
}

impl ComparableText {
    /// Prepares a text.
    pub fn from_text(text: &str) -> Self {
        let text = &*to_composed(text);
        let is_shouted = is_shouted(text);
        let mut folded = String::with_capacity(text.len());
        let mut words = Vec::new();
        for word in split_words(text) {
            let word = fold_word(word, is_shouted);
            folded.push_str(&word);
            words.push(WordEnd {
                end: folded.len(),
                class: WordClass::of(&word),
            });
        }
        word_class::mark_harmless_phrases(&folded, &mut words);
        Self { folded, words }
    }

    /// Returns the words in order, without stop words and polite words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let all = self.classed_words();
        all.filter(|(_, class)| *class == WordClass::Content)
            .map(|(word, _)| word)
    }

    /// Returns the words that a near-duplicate has too; only in this order.
    pub fn meaningful_words(&self) -> impl Iterator<Item = &str> {
        let all = self.classed_words();
        all.filter(|(_, class)| *class != WordClass::Harmless)
            .map(|(word, _)| word)
    }

    fn classed_words(&self) -> impl Iterator<Item = (&str, WordClass)> {
        self.words.iter().scan(0, |start, word| {
            let found = self.folded.get(*start..word.end)?;
            *start = word.end;
            Some((found, word.class))
        })
    }

    /// Returns true if no word is left without stop words and polite words.
    pub fn is_empty(&self) -> bool {
        self.words().next().is_none()
    }

    /// Returns true if the two texts are near-duplicates: the same words in the same order without articles and polite
    /// words. A text without words has no near-duplicate.
    pub fn is_near_duplicate(&self, other: &Self) -> bool {
        !self.is_empty() && self.meaningful_words().eq(other.meaningful_words())
    }

    /// Returns the Jaccard similarity of the word sets, from 0 to 1.
    pub fn overlap(&self, other: &Self) -> f64 {
        let (mine, theirs) = (self.word_set(), other.word_set());
        let both = mine.intersection(&theirs).count();
        both as f64 / (mine.len() + theirs.len() - both).max(1) as f64
    }

    /// Returns the share of its words that `other` contains, from 0 to 1.
    pub fn share_in(&self, other: &Self) -> f64 {
        let theirs = other.word_set();
        let both = self.words().filter(|word| theirs.contains(word));
        both.count() as f64 / self.words().count().max(1) as f64
    }

    fn word_set(&self) -> BTreeSet<&str> {
        self.words().collect()
    }
}

/// Returns true for a comparable word that is neither a stop word nor a polite word.
pub(crate) fn is_content_word(word: &str) -> bool {
    WordClass::of(word) == WordClass::Content
}

/// Returns true if all letters of a text of several words are capitals: `RUN THE TESTS` is `run the tests`.
fn is_shouted(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some()
        && text.chars().all(|c| !c.is_alphabetic() || c.is_uppercase())
}

/// Returns the comparable form of a word.
fn fold_word(word: SplitWord<'_>, is_shouted: bool) -> Cow<'_, str> {
    if word.is_code || word.text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word.text);
    }
    let written = unify_apostrophes(word.text);
    let has_inner_capital = written.chars().skip(1).any(char::is_uppercase);
    if !has_inner_capital {
        return Cow::Owned(written.to_lowercase());
    }
    let lower = written.to_lowercase();
    match is_shouted || word_class::is_emphasised(&lower) {
        true => Cow::Owned(lower),
        // `PATH` and `Path`, `UserId` and `UserID` are different names.
        false => written,
    }
}

/// Unifies apostrophes and minus signs; drops the apostrophe of `don't` and `it's`.
fn unify_apostrophes(word: &str) -> Cow<'_, str> {
    if word.is_ascii() && !word.contains('\'') {
        return Cow::Borrowed(word);
    }
    let mut out: String = word
        .chars()
        .map(|c| if is_apostrophe(c) { '\'' } else { c })
        .collect();
    if let Some(number) = out.strip_prefix(['–', '−']) {
        out = format!("-{number}");
    }
    let end = out.get(out.len().saturating_sub(3)..).unwrap_or_default();
    if end.eq_ignore_ascii_case("n't") || end.to_ascii_lowercase().ends_with("'s") {
        let at = out.rfind('\'').unwrap_or(out.len());
        out.replace_range(at..=at, "");
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;

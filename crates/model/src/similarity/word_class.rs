//! Classes of words by their effect on the meaning of a text.

use super::WordEnd;

/// Words in order that say little about the subject of a text: they do not count for overlaps, but a different one makes
/// a difference between near-duplicates (`from a to b` and `to a from b`).
const STOP_WORDS: &[&str] = &[
    "and", "are", "as", "at", "be", "been", "being", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "her", "his", "in", "is", "it", "its", "of", "on",
    "our", "she", "that", "their", "there", "these", "they", "this", "those", "to", "was", "we",
    "were", "with",
];

/// Words in order that never change the meaning: articles, politeness and fillers of several languages. Words that are
/// something else in another language or in code, such as `de` and `os`, are not among them.
const HARMLESS_WORDS: &[&str] = &[
    "a",
    "actually",
    "alsjeblieft",
    "alstublieft",
    "an",
    "basically",
    "bitte",
    "das",
    "dem",
    "den",
    "der",
    "des",
    "die",
    "ein",
    "eine",
    "einem",
    "einen",
    "einer",
    "eines",
    "gli",
    "gracias",
    "grazie",
    "het",
    "il",
    "indeed",
    "kindly",
    "las",
    "les",
    "los",
    "merci",
    "obrigado",
    "please",
    "pls",
    "plz",
    "really",
    "svp",
    "thanks",
    "the",
    "una",
    "une",
    "very",
    "veuillez",
    "vraiment",
    "wirklich",
    "пожалуйста",
];

/// Polite phrases of several words, which harm nothing only together.
const HARMLESS_PHRASES: &[&[&str]] = &[
    &["per", "favore"],
    &["por", "favor"],
    &["s'il", "te", "plaît"],
    &["s'il", "vous", "plaît"],
    &["thank", "you"],
];

/// Words that are often written in capitals for emphasis: `NEVER use npm`.
const EMPHASISED_WORDS: &[&str] = &[
    "all",
    "always",
    "any",
    "avoid",
    "but",
    "cannot",
    "cant",
    "didnt",
    "doesnt",
    "dont",
    "each",
    "every",
    "except",
    "if",
    "immer",
    "important",
    "instead",
    "isnt",
    "jamais",
    "must",
    "mustnt",
    "never",
    "nicht",
    "nie",
    "niemals",
    "no",
    "not",
    "note",
    "nunca",
    "ok",
    "only",
    "or",
    "should",
    "shouldnt",
    "siempre",
    "stop",
    "toujours",
    "unless",
    "until",
    "use",
    "without",
    "wont",
    "you",
    "your",
];

/// Effect of a word on the meaning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordClass {
    /// It can be left out without changing the meaning.
    Harmless,
    /// It relates other words.
    Stop,
    /// Any other word.
    Content,
}

impl WordClass {
    /// Returns the class of a comparable word.
    pub(super) fn of(word: &str) -> Self {
        if HARMLESS_WORDS.binary_search(&word).is_ok() {
            Self::Harmless
        } else if STOP_WORDS.binary_search(&word).is_ok() {
            Self::Stop
        } else {
            Self::Content
        }
    }
}

/// Returns true if a word in capitals is the plain word and no name.
pub(super) fn is_emphasised(lower: &str) -> bool {
    EMPHASISED_WORDS.binary_search(&lower).is_ok() || WordClass::of(lower) != WordClass::Content
}

/// Marks the words of polite phrases as harmless.
pub(super) fn mark_harmless_phrases(folded: &str, words: &mut [WordEnd]) {
    for phrase in HARMLESS_PHRASES {
        for place in 0..words.len() {
            let start = place.checked_sub(1).and_then(|before| words.get(before));
            let start = start.map_or(0, |before| before.end);
            if let Some(run) = words.get_mut(place..place + phrase.len())
                && has_words(folded, start, run, phrase)
            {
                run.iter_mut()
                    .for_each(|word| word.class = WordClass::Harmless);
            }
        }
    }
}

fn has_words(folded: &str, start: usize, run: &[WordEnd], phrase: &[&str]) -> bool {
    let starts = std::iter::once(start).chain(run.iter().map(|word| word.end));
    let found = starts
        .zip(run)
        .map(|(start, word)| folded.get(start..word.end));
    found.eq(phrase.iter().copied().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted() {
        for list in [STOP_WORDS, HARMLESS_WORDS, EMPHASISED_WORDS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}

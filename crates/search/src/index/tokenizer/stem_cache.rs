//! Stem cache: terms of recent words. Texts share most words, and stemming is the most expensive part of reading a
//! text.

use super::Term;
use std::cell::RefCell;
use waken_snowball::{Algorithm, stem};

/// Maximum length of a word that is stemmed, bytes; a longer one is not a word of a language.
const STEMMED_MAX: usize = 64;
/// Maximum length of a cached word, bytes.
const WORD_MAX: usize = 15;
/// Cache slots of a thread, a power of two; a new word replaces an older one with the same slot. 96 KB.
const SLOTS: usize = 4_096;
/// Initial number of slots: a thread that ends with its first query touches little memory.
const SLOTS_FIRST: usize = 512;
/// Number of new words after which the cache grows to its full size.
const GROW_AFTER: usize = 2_048;

#[derive(Clone, Copy)]
struct Slot {
    /// The word padded with zeros, and its length in the last byte; the length is 0 only in an empty slot.
    word: [u8; WORD_MAX + 1],
    term: Term,
}

const EMPTY: Slot = Slot {
    word: [0; WORD_MAX + 1],
    term: Term(0),
};

/// Cache of one thread.
struct StemCache {
    slots: Vec<Slot>,
    /// Number of words that were not cached.
    new: usize,
}

thread_local! {
    static MET: RefCell<StemCache> = RefCell::new(StemCache { slots: vec![EMPTY; SLOTS_FIRST], new: 0 });
}

impl StemCache {
    fn term(&mut self, word: &str, key: [u8; WORD_MAX + 1], mixed: u64) -> Term {
        let at = mixed >> (64 - self.slots.len().ilog2());
        let slot = usize::try_from(at).ok();
        match slot.and_then(|at| self.slots.get_mut(at)) {
            Some(slot) if slot.word == key => slot.term,
            Some(slot) => {
                let term = stem_term(word);
                *slot = Slot { word: key, term };
                self.new += 1;
                if self.new == GROW_AFTER {
                    self.slots = vec![EMPTY; SLOTS];
                }
                term
            }
            None => stem_term(word),
        }
    }
}

/// Returns the term of a non-empty folded word.
pub(super) fn term(word: &str) -> Term {
    let Some(key) = key(word) else {
        return stem_term(word);
    };
    let half = |half: Option<&[u8; 8]>| half.map_or(0, |half| u64::from_le_bytes(*half));
    let mixed = half(key.first_chunk()) ^ half(key.last_chunk()).rotate_left(23);
    let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    MET.with_borrow_mut(|met| met.term(word, key, mixed))
}

/// Returns the cache key of a word if it is short enough.
fn key(word: &str) -> Option<[u8; WORD_MAX + 1]> {
    let mut key = [0; WORD_MAX + 1];
    let (length, letters) = key.split_last_mut()?;
    letters
        .get_mut(..word.len())?
        .copy_from_slice(word.as_bytes());
    *length = u8::try_from(word.len()).ok()?;
    Some(key)
}

fn stem_term(word: &str) -> Term {
    if word.is_ascii() && word.len() <= STEMMED_MAX {
        Term::of(&stem(Algorithm::Porter, word))
    } else {
        Term::of(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cached_term_equals_computed_term(words in prop::collection::vec("[a-z]{1,6}|\\PC{1,20}|[a-e0]{1,3}", 1..80)) {
            for _ in 0..2 {
                for word in &words {
                    prop_assert_eq!(term(word), stem_term(word), "{}", word);
                }
            }
        }
    }

    #[test]
    fn slot_collision_returns_correct_terms() {
        for n in 0..3 * SLOTS {
            let word = format!("w{n}");
            assert_eq!(term(&word), stem_term(&word));
        }
        assert_eq!(term("w7"), stem_term("w7"));
        let long = "a".repeat(STEMMED_MAX + 1);
        for word in [
            &long[..WORD_MAX],
            &long[..=WORD_MAX],
            &long[..STEMMED_MAX],
            &long,
        ] {
            assert_eq!(term(word), stem_term(word));
        }
    }
}

//! The terms of words that were met before: a text is mostly words that other texts have too, and stemming one
//! costs more than all the rest of reading it.

use super::Term;
use std::cell::RefCell;
use waken_snowball::{Algorithm, stem};

/// Longest word that is stemmed, bytes; a longer one is no word of a language.
const STEMMED_MAX: usize = 64;
/// Longest word that is remembered, bytes.
const WORD_MAX: usize = 15;
/// Words that a thread remembers, a power of two; a new one takes the place of an old one. 96 KB.
const SLOTS: usize = 4_096;
/// The same of a thread that has met few: one that ends with its first question touches little memory.
const SLOTS_FIRST: usize = 512;
/// So many words are no longer few.
const MANY: usize = 2_048;

#[derive(Clone, Copy)]
struct Slot {
    /// The word and its length, zeros between; the length is never 0 where a word is.
    word: [u8; WORD_MAX + 1],
    term: Term,
}

const EMPTY: Slot = Slot {
    word: [0; WORD_MAX + 1],
    term: Term(0),
};

/// The words that a thread has met.
struct Met {
    slots: Vec<Slot>,
    /// How many were new to it.
    new: usize,
}

thread_local! {
    static MET: RefCell<Met> = RefCell::new(Met { slots: vec![EMPTY; SLOTS_FIRST], new: 0 });
}

impl Met {
    fn term(&mut self, word: &str, key: [u8; WORD_MAX + 1], mixed: u64) -> Term {
        let at = mixed >> (64 - self.slots.len().ilog2());
        let slot = usize::try_from(at).ok();
        match slot.and_then(|at| self.slots.get_mut(at)) {
            Some(slot) if slot.word == key => slot.term,
            Some(slot) => {
                let term = made(word);
                *slot = Slot { word: key, term };
                self.new += 1;
                if self.new == MANY {
                    self.slots = vec![EMPTY; SLOTS];
                }
                term
            }
            None => made(word),
        }
    }
}

/// The term of a folded word that is not empty.
pub(super) fn term(word: &str) -> Term {
    let Some(key) = key(word) else {
        return made(word);
    };
    let half = |half: Option<&[u8; 8]>| half.map_or(0, |half| u64::from_le_bytes(*half));
    let mixed = half(key.first_chunk()) ^ half(key.last_chunk()).rotate_left(23);
    let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    MET.with_borrow_mut(|met| met.term(word, key, mixed))
}

/// The word as a slot keeps it, if it is short enough.
fn key(word: &str) -> Option<[u8; WORD_MAX + 1]> {
    let mut key = [0; WORD_MAX + 1];
    let (length, letters) = key.split_last_mut()?;
    letters
        .get_mut(..word.len())?
        .copy_from_slice(word.as_bytes());
    *length = u8::try_from(word.len()).ok()?;
    Some(key)
}

fn made(word: &str) -> Term {
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
        fn what_is_remembered_is_what_is_made(words in prop::collection::vec("[a-z]{1,6}|\\PC{1,20}|[a-e0]{1,3}", 1..80)) {
            for _ in 0..2 {
                for word in &words {
                    prop_assert_eq!(term(word), made(word), "{}", word);
                }
            }
        }
    }

    #[test]
    fn words_that_share_a_slot_have_their_own_terms() {
        for n in 0..3 * SLOTS {
            let word = format!("w{n}");
            assert_eq!(term(&word), made(&word));
        }
        assert_eq!(term("w7"), made("w7"));
        let long = "a".repeat(STEMMED_MAX + 1);
        for word in [
            &long[..WORD_MAX],
            &long[..=WORD_MAX],
            &long[..STEMMED_MAX],
            &long,
        ] {
            assert_eq!(term(word), made(word));
        }
    }
}

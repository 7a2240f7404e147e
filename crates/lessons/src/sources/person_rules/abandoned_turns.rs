//! Turns of branches that a person abandoned, until the next turn shows whether it is a new version of one of them.

use crate::code_tokens::content_words;
use serde::{Deserialize, Serialize};

/// Turns that are kept.
const TURNS_MAX: usize = 4;
/// Words of a turn that are kept.
const WORDS_MAX: usize = 30;
/// Bytes of a word; longer ones are not compared.
const WORD_BYTES_MAX: usize = 40;
/// Share of the words of the shorter turn that a new version has.
const SHARED_MIN: f32 = 0.5;

/// Abandoned turns since the last turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AbandonedTurns(Vec<AbandonedTurn>);

/// A turn with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AbandonedTurn {
    position: u64,
    words: Vec<String>,
}

impl AbandonedTurns {
    /// Adds a turn.
    pub(super) fn add(&mut self, position: u64, turn: &str) {
        if self.0.len() >= TURNS_MAX {
            self.0.remove(0);
        }
        self.0.push(AbandonedTurn {
            position,
            words: compared_words(turn),
        });
    }

    /// Forgets the turns, and returns the positions of those of which this turn is a new version.
    pub(super) fn take_rewritten(&mut self, turn: &str) -> Vec<u64> {
        let abandoned = std::mem::take(&mut self.0);
        if abandoned.is_empty() {
            return Vec::new();
        }
        let words = compared_words(turn);
        abandoned
            .into_iter()
            .filter(|one| is_version(&one.words, &words))
            .map(|one| one.position)
            .collect()
    }
}

fn compared_words(turn: &str) -> Vec<String> {
    let words = content_words(turn).into_iter();
    words
        .filter(|word| word.len() <= WORD_BYTES_MAX)
        .take(WORDS_MAX)
        .collect()
}

fn is_version(one: &[String], other: &[String]) -> bool {
    let shared = one.iter().filter(|word| other.contains(word)).count();
    let shorter = one.len().min(other.len());
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are at most WORDS_MAX words"
    )]
    let share = shared as f32 / shorter.max(1) as f32;
    share >= SHARED_MIN
}

//! Statements that the agent withdrew later in the session.

use crate::code_tokens::{content_words, stem};
use crate::cues::SelectionCues;
use crate::sentences::sentences;
use crate::{Candidate, LessonContent, Speaker};
use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use serde::{Deserialize, Serialize};

/// Greatest number of withdrawals that are kept.
const WITHDRAWALS_MAX: usize = 16;
/// Greatest number of words of a withdrawal.
const WORDS_MAX: usize = 14;
/// Smallest number of words that a candidate shares with the withdrawal of it.
const COMMON_MIN: usize = 2;
/// Greatest number of bytes of a message that are searched.
const MESSAGE_BYTES_MAX: usize = 6 << 10;

/// A sentence that withdraws an earlier statement.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Withdrawal {
    position: u64,
    words: Vec<String>,
}

/// Withdrawals of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Withdrawals(Vec<Withdrawal>);

impl Withdrawals {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &SelectionCues) {
        let EventBody::AssistantText(message) = &event.body else {
            return;
        };
        let end = message.floor_char_boundary(MESSAGE_BYTES_MAX);
        for sentence in sentences(message.get(..end).unwrap_or_default()) {
            let lower = sentence.to_lowercase();
            if !cues.phrases.withdrawals.is_in(&lower) {
                continue;
            }
            let mut words: Vec<String> = content_words(sentence)
                .iter()
                .filter(|word| word.len() <= 40)
                .map(|word| stem(word).to_owned())
                .collect();
            words.sort();
            words.dedup();
            words.truncate(WORDS_MAX);
            if self.0.len() >= WITHDRAWALS_MAX {
                self.0.remove(0);
            }
            self.0.push(Withdrawal { position, words });
        }
    }

    /// Returns true if a later sentence withdraws the candidate.
    pub(super) fn covers(&self, candidate: &Candidate) -> bool {
        let is_statement = matches!(
            candidate.content,
            LessonContent::Knowledge { .. } | LessonContent::Error { .. }
        );
        if self.0.is_empty() || !is_statement || candidate.speaker != Speaker::Agent {
            return false;
        }
        let position = candidate
            .evidence
            .iter()
            .map(|evidence| evidence.position)
            .max()
            .unwrap_or(0);
        let words = content_words(&candidate.full_text());
        let has = |word: &String| words.iter().any(|known| stem(known) == word);
        self.0
            .iter()
            .filter(|withdrawal| withdrawal.position > position)
            .any(|withdrawal| {
                let common = withdrawal.words.iter().filter(|word| has(word)).count();
                common >= COMMON_MIN && common * 2 >= withdrawal.words.len()
            })
    }
}

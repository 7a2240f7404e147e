//! Statements that the agent withdrew later in the session, and claims that the next prompt refuted.

use crate::code_tokens::{content_words, stem};
use crate::cues::{Cues, OutcomeCues, SelectionCues};
use crate::sentences::sentences;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::failures::{error_lines, reports_failure};
use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of withdrawals that are kept.
const WITHDRAWALS_MAX: usize = 16;
/// Greatest number of words of a withdrawal.
const WORDS_MAX: usize = 14;
/// Smallest number of words that a candidate shares with the withdrawal of it.
const COMMON_MIN: usize = 2;
/// Greatest number of bytes of a message that are searched.
const MESSAGE_BYTES_MAX: usize = 6 << 10;
/// Greatest number of bytes of a prompt that is about the work before it as a whole.
const DISSENT_BYTES_MAX: usize = 400;

/// A sentence that withdraws an earlier statement.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Withdrawal {
    position: u64,
    words: Vec<String>,
}

/// Withdrawals of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Withdrawals {
    sentences: Vec<Withdrawal>,
    /// Positions between which the agent's claims did not hold: a prompt, and the next one that contradicts them.
    refuted: Vec<(u64, u64)>,
    /// Position of the last prompt.
    prompt: u64,
    /// Identities of errors that the person pasted.
    pasted: Vec<String>,
}

impl Withdrawals {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                self.read_prompt(position, prompt, &cues.outcome);
            }
            EventBody::AssistantText(message) => {
                self.read_message(position, message, &cues.selection);
            }
            EventBody::Prompt(_)
            | EventBody::ConversationStart(_)
            | EventBody::Call { .. }
            | EventBody::Result { .. }
            | EventBody::FileChanged(_)
            | EventBody::Summary(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    /// A prompt such as "still the same error", or with an error that was pasted before, refutes what was claimed since
    /// the last one.
    fn read_prompt(&mut self, position: u64, prompt: &str, cues: &OutcomeCues) {
        let head = prompt.get(..prompt.floor_char_boundary(MESSAGE_BYTES_MAX));
        let head = head.unwrap_or_default();
        let lower = own_words(head).to_lowercase().replace('’', "'");
        let is_short = lower.len() <= DISSENT_BYTES_MAX;
        let mut is_refuted = is_short && cues.phrases.dissent.is_in(&lower);
        if reports_failure(head) {
            for error in error_lines(head, 1) {
                let identity = text::hash16(&text::error_identity(&error));
                is_refuted |= self.pasted.contains(&identity);
                self.pasted.retain(|known| *known != identity);
                self.pasted.push(identity);
            }
        }
        if self.pasted.len() > WITHDRAWALS_MAX {
            self.pasted.remove(0);
        }
        if is_refuted {
            if self.refuted.len() >= WITHDRAWALS_MAX {
                self.refuted.remove(0);
            }
            self.refuted.push((self.prompt, position));
        }
        self.prompt = position;
    }

    fn read_message(&mut self, position: u64, message: &str, cues: &SelectionCues) {
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
            if self.sentences.len() >= WITHDRAWALS_MAX {
                self.sentences.remove(0);
            }
            self.sentences.push(Withdrawal { position, words });
        }
    }

    /// Returns true if a later sentence withdraws the candidate.
    pub(super) fn covers(&self, candidate: &Candidate) -> bool {
        let is_statement = matches!(
            candidate.content,
            LessonContent::Knowledge { .. } | LessonContent::Error { .. }
        );
        if !is_statement || candidate.speaker != Speaker::Agent {
            return false;
        }
        let position = candidate
            .evidence
            .iter()
            .map(|evidence| evidence.position)
            .max()
            .unwrap_or(0);
        let is_claim = candidate.source == SourceKind::Explanation;
        let is_within = |(from, until): &(u64, u64)| (*from..*until).contains(&position);
        if is_claim && self.refuted.iter().any(is_within) {
            return true;
        }
        if self.sentences.is_empty() {
            return false;
        }
        let words = content_words(&candidate.full_text());
        let has = |word: &String| words.iter().any(|known| stem(known) == word);
        self.sentences
            .iter()
            .filter(|withdrawal| withdrawal.position > position)
            .any(|withdrawal| {
                let common = withdrawal.words.iter().filter(|word| has(word)).count();
                common >= COMMON_MIN && common * 2 >= withdrawal.words.len()
            })
    }
}

/// Returns a prompt without the blocks between fences, which are pasted: `There are still these errors:` before a log.
fn own_words(prompt: &str) -> String {
    let parts = prompt.split("```").step_by(2);
    parts.collect::<Vec<_>>().join(" ")
}

//! Weak preferences: short checks of the agent's work, and what the person wrote after an interrupt.

use super::PersonRules;
use crate::cues::{PersonRuleCues, normalize, starts_with_word};
use crate::sentences::{is_question, sentences};

/// Greatest number of characters of such a turn.
const TURN_CHARS_MAX: usize = 90;
/// Number of calls without a result for the person after which a request is impatient.
const CALLS_MIN: u32 = 10;

impl PersonRules {
    /// Returns the record of a turn that checks the agent's work, or that follows an interrupt.
    pub(super) fn weak_preference(&self, turn: &str, cues: &PersonRuleCues) -> Option<String> {
        let turn = turn.trim();
        if turn.len() > 4 * TURN_CHARS_MAX || turn.chars().count() > TURN_CHARS_MAX {
            return None;
        }
        let mut all = sentences(turn);
        let sentence = all.next()?;
        if all.next().is_some() {
            return None;
        }
        let normal = normalize(sentence);
        let quoted = quote_turn(sentence);
        if is_check(sentence, &normal, cues) {
            return Some(match self.call_count {
                0 => format!("The user asked: {quoted}"),
                _ => format!("At the end of the agent's work the user asked: {quoted}"),
            });
        }
        if let Some(action) = &self.interrupted {
            return Some(format!("The user interrupted {action} and wrote: {quoted}"));
        }
        (self.call_count >= CALLS_MIN && is_impatient(&normal, cues)).then(|| {
            format!(
                "After {} calls of the agent in a row the user asked: {quoted}",
                self.call_count
            )
        })
    }
}

/// Returns the person's words as the end of a sentence.
pub(super) fn quote_turn(words: &str) -> String {
    let is_ended = words.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    format!("\"{words}\"{}", if is_ended { "" } else { "." })
}

/// Returns true for a question such as "did you push?".
fn is_check(sentence: &str, normal: &str, cues: &PersonRuleCues) -> bool {
    let words = &cues.turns;
    if words
        .check_phrases
        .iter()
        .any(|phrase| normal.contains(*phrase))
    {
        return true;
    }
    is_question(sentence)
        && words.check_starts.iter().any(|start| {
            starts_with_word(normal, start)
                && normal.get(start.len()..).is_some_and(|rest| {
                    let mut next = rest
                        .split(|c: char| !c.is_alphanumeric())
                        .filter(|word| !word.is_empty())
                        .take(3);
                    next.any(|word| words.check_verbs.contains(&word))
                })
        })
}

/// Returns true for a request such as "can you present the plan now?".
fn is_impatient(normal: &str, cues: &PersonRuleCues) -> bool {
    let words = &cues.turns;
    let end = normal.trim_end_matches(|c: char| !c.is_alphanumeric());
    words
        .request_starts
        .iter()
        .any(|start| starts_with_word(normal, start))
        && words.request_ends.iter().any(|word| end.ends_with(*word))
}

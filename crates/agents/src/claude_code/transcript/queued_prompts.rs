//! Prompts that a person typed while the agent worked. The program queues them; it either submits one later as a normal
//! prompt, or adds it to the running turn, which leaves only the record of the queue.

use super::line_fields::QueueLine;
use super::person_words;
use super::turn_author::{author_of_origin, is_prompt_mode};
use crate::json_fields::{as_keyword, as_nonblank_string, as_time, parse_object};
use crate::transcripts::TurnAuthor;
use heirloom_model::limits::{TRANSCRIPT_QUEUED_PROMPTS_MAX, TRANSCRIPT_TEXT_CHARS_MAX};
use heirloom_model::{Timestamp, text};
use std::collections::HashMap;

/// Number of delivered prompts for each waiting one that are kept.
const DELIVERED_FACTOR: usize = 10;

/// A prompt in the queue.
#[derive(Debug, Clone)]
pub(super) struct QueuedPrompt {
    /// Offset of the line that put it into the queue.
    pub(super) queued_at: u64,
    /// Time of that line.
    pub(super) at: Option<Timestamp>,
    /// The prompt, shortened.
    pub(super) text: String,
    /// Author by the fields of the line.
    pub(super) author: TurnAuthor,
    /// Hash of the whole prompt.
    hash: String,
}

impl QueuedPrompt {
    /// Returns the id of its event: its time and content, because a copy of the conversation has it at another offset.
    pub(super) fn event_id(&self) -> String {
        match self.at {
            Some(at) => format!("queued {at} {}", self.hash),
            None => self.queued_at.to_string(),
        }
    }
}

/// Scan of a conversation's queue.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    waiting: Vec<QueuedPrompt>,
    /// Prompts that left the queue, by the offset of the line that shows it.
    delivered: Vec<(u64, QueuedPrompt)>,
    /// Offset of the last normal prompt with a text's hash.
    prompts: HashMap<String, u64>,
}

impl PromptQueue {
    /// Reads a line that changes the queue.
    pub(super) fn read_line(&mut self, at: u64, line: &str) {
        let Ok(line) = parse_object::<QueueLine<'_>>(line) else {
            return;
        };
        match as_keyword(line.operation) {
            "enqueue" => {
                let text = as_nonblank_string(line.content).map(|text| person_words(&text));
                let text = text.filter(|_| is_prompt_mode(line.command_mode));
                if let Some(text) = text.filter(|text| !text.is_empty())
                    && self.waiting.len() < TRANSCRIPT_QUEUED_PROMPTS_MAX
                {
                    self.waiting.push(QueuedPrompt {
                        queued_at: at,
                        at: as_time(line.timestamp),
                        text: text::clip(&text, TRANSCRIPT_TEXT_CHARS_MAX).to_owned(),
                        hash: text::hash16(text.trim()),
                        author: author_of_origin(line.origin),
                    });
                }
            }
            "remove" | "dequeue" => {
                let waiting = std::mem::take(&mut self.waiting);
                if self.delivered.len() < TRANSCRIPT_QUEUED_PROMPTS_MAX * DELIVERED_FACTOR {
                    self.delivered
                        .extend(waiting.into_iter().map(|prompt| (at, prompt)));
                }
            }
            // The person takes the queue back in order to edit it.
            "popAll" => self.waiting.clear(),
            _ => {}
        }
    }

    /// Returns true if a prompt was in the queue.
    pub(super) fn is_used(&self) -> bool {
        !(self.waiting.is_empty() && self.delivered.is_empty())
    }

    /// Records a prompt that the conversation has.
    pub(super) fn add_prompt(&mut self, at: u64, prompt: &str) {
        if self.is_used() {
            self.prompts.insert(text::hash16(&person_words(prompt)), at);
        }
    }

    /// Returns the prompts that were added to a running turn, by the offset of the line that shows it.
    pub(super) fn into_delivered(self) -> HashMap<u64, Vec<QueuedPrompt>> {
        let mut delivered: HashMap<u64, Vec<QueuedPrompt>> = HashMap::new();
        for (at, prompt) in self.delivered {
            let repeated = self.prompts.get(&prompt.hash);
            if repeated.is_none_or(|normal| *normal < prompt.queued_at) {
                delivered.entry(at).or_default().push(prompt);
            }
        }
        delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_prompts_stop_at_maximum() {
        let mut queue = PromptQueue::default();
        for at in 0..=TRANSCRIPT_QUEUED_PROMPTS_MAX as u64 {
            queue.read_line(at, r#"{"operation":"enqueue","content":"go on"}"#);
        }
        assert_eq!(queue.waiting.len(), TRANSCRIPT_QUEUED_PROMPTS_MAX);
    }
}

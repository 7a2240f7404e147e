//! Unanswered calls: calls without a result, and results without a call, which providers reject.

use super::Plan;
use crate::conversation::Conversation;
use crate::message::{ChatMessage, ChatRole, MessagePart, WireFormat};

impl Plan {
    /// Opens and counts the calls of a model's message.
    pub(super) fn open_calls(&mut self, message: &ChatMessage, at: usize) {
        for (part, call) in message.parts.iter().enumerate() {
            if !matches!(call, MessagePart::Call(_)) {
                continue;
            }
            self.calls += 1;
            self.open.push((at, part));
        }
    }

    /// Returns true if a message holds only results without calls. Closes the calls that it answers.
    pub(super) fn is_orphan(&mut self, message: &ChatMessage, at: usize) -> bool {
        let mut orphans = Vec::new();
        for (part, output) in message.parts.iter().enumerate() {
            let MessagePart::Output(output) = output else {
                continue;
            };
            match self.open.iter().position(|call| Some(*call) == output.call) {
                Some(place) => {
                    self.open.remove(place);
                }
                None => orphans.push((at, part)),
            }
        }
        let all = !orphans.is_empty() && orphans.len() == message.parts.len();
        if !all {
            self.orphan_parts.extend(orphans);
        }
        all
    }

    /// Marks open calls as unanswered once another message makes a result impossible.
    pub(super) fn close_calls(&mut self, conversation: &Conversation, at: usize) {
        let role = |at: usize| conversation.messages[at].role;
        let goes_on = role(at) == ChatRole::Tool
            || match conversation.format {
                WireFormat::Openai => false,
                // Only the next turn may hold results; a second model turn is too late.
                WireFormat::Anthropic => {
                    role(at) == ChatRole::Assistant && at > 0 && role(at - 1) == ChatRole::Assistant
                }
                WireFormat::Responses => role(at) == ChatRole::Assistant,
            };
        if goes_on || self.open.is_empty() {
            return;
        }
        let after = at.saturating_sub(1);
        for call in std::mem::take(&mut self.open) {
            self.missing.push((after, call));
        }
    }
}

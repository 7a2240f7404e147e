//! Entry of the next message of the history: its size in the window, and what the plan learns from it.

use super::{ActiveMessage, AnchorPlacement, Plan, measure};
use crate::conversation::Conversation;
use crate::markers;
use crate::message::{ChatMessage, ChatRole, InsertedMessage, MessagePart, WireFormat};
use crate::policy_lookup::PolicyLookup;
use crate::token_estimate::round_to_tokens;

impl Plan {
    /// Adds the entry of the next message, before the decision about the request that follows.
    pub(super) fn add_message(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        at: usize,
    ) {
        let message = &conversation.messages[at];
        self.seen = at + 1;
        self.raw_size += round_to_tokens(message.chars);
        if at < self.system_end {
            self.system_size += round_to_tokens(message.chars);
            return;
        }
        let orphan = self.is_orphan(message, at);
        self.close_calls(conversation, at);
        if let Some(own) = message.inserted {
            self.add_inserted(own, message, at);
            return;
        }
        let mut entry = measure(conversation.format, policy, message);
        entry.size = round_to_tokens(entry.size);
        if orphan || is_empty(conversation.format, message) {
            self.orphans.insert(at);
            entry = ActiveMessage::default();
        }
        entry.goal = self.goal;
        self.active_size += entry.size;
        self.entries.push(entry);
        match message.role {
            ChatRole::User => self.note_goal(message, at),
            ChatRole::Assistant => self.open_calls(message, at),
            ChatRole::System | ChatRole::Tool => {}
        }
        self.note_reads(conversation, policy, message, at);
        self.note_plan(message);
        if let Some(tokens) = message.usage {
            let sent = self.total().saturating_sub(message.chars);
            self.gauge.add(sent, tokens);
        }
        if message.role == ChatRole::Assistant {
            self.request_time = message.time_ms.or(self.request_time);
        }
    }

    /// Adds the entry of an anchor or a summary of an earlier window.
    fn add_inserted(&mut self, own: InsertedMessage, message: &ChatMessage, at: usize) {
        let text = message.text();
        self.calls = markers::parse_call_count(&text).unwrap_or(self.calls);
        self.last_anchor = self.calls;
        if self.plan.is_none() {
            self.plan = markers::parse_plan(&text).map(str::to_owned);
        }
        match own {
            InsertedMessage::Anchor => {
                self.anchors.push(AnchorPlacement {
                    after: at,
                    is_from_history: true,
                    calls: self.calls,
                    goal: self.goal,
                    has_plan: markers::parse_plan(&text).is_some(),
                    size: round_to_tokens(message.chars),
                });
                self.anchors_size += round_to_tokens(message.chars);
                self.entries.push(ActiveMessage::default());
            }
            InsertedMessage::Summary => {
                self.users_size += message.chars;
                self.active_size += round_to_tokens(message.chars);
                self.entries.push(ActiveMessage {
                    size: round_to_tokens(message.chars),
                    ..ActiveMessage::default()
                });
            }
        }
    }
}

/// Returns true if a message is empty and the provider rejects empty ones.
fn is_empty(form: WireFormat, message: &ChatMessage) -> bool {
    form == WireFormat::Anthropic
        && message.parts.iter().all(|part| match part {
            MessagePart::Text { text, .. } => text.trim().is_empty(),
            MessagePart::Call(_)
            | MessagePart::Output(_)
            | MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => false,
        })
}

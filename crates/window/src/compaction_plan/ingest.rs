//! Bookkeeping for one more message, before a decision.

use super::{ActiveMessage, AnchorPlacement, Plan, measure, stale_saves};
use crate::conversation::Conversation;
use crate::markers;
use crate::message::{ChatMessage, ChatRole, InsertedMessage, MessagePart, ToolOutput, WireFormat};
use crate::policy_lookup::PolicyLookup;
use crate::token_estimate::round_to_tokens;
use heirloom_model::limits::WINDOW_PLAN_CHARS_MAX;
use heirloom_model::text::excerpt;

/// A user message shorter than this does not change the goal, characters.
const GOAL_CHARS_MIN: usize = 40;
/// A first reply longer than this is a plan, characters.
const PLAN_CHARS_MIN: usize = 50;

impl Plan {
    pub(super) fn ingest(
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
            self.ingest_inserted(own, message, at);
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
        self.track_turn(message, at);
        self.note_reads(conversation, policy, message, at);
        let plan_wanted = self.plan.is_none() && message.role == ChatRole::Assistant;
        if plan_wanted && self.turns <= 1 {
            let text = message.text();
            if text.chars().count() > PLAN_CHARS_MIN {
                self.plan = Some(excerpt(&text, WINDOW_PLAN_CHARS_MAX));
            }
        }
        if let Some(tokens) = message.usage {
            let sent = self.total().saturating_sub(message.chars);
            self.gauge.add(sent, tokens);
        }
        if message.role == ChatRole::Assistant {
            self.request_time = message.time_ms.or(self.request_time);
        }
    }

    fn ingest_inserted(&mut self, own: InsertedMessage, message: &ChatMessage, at: usize) {
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

    /// Tracks the goal of the user and the calls of the model.
    fn track_turn(&mut self, message: &ChatMessage, at: usize) {
        match message.role {
            ChatRole::User => {
                let text = message.text();
                let trimmed = text.trim();
                if (message.has_outputs() && trimmed.is_empty())
                    || trimmed == markers::LEFT_OUT_TEXT
                {
                    return;
                }
                self.last_user = Some(at);
                let is_goal =
                    !markers::is_program_text(trimmed) && trimmed.chars().count() >= GOAL_CHARS_MIN;
                if is_goal || self.goal.is_none() {
                    self.goal = Some(at);
                }
            }
            ChatRole::Assistant => {
                for (part, call) in message.parts.iter().enumerate() {
                    if !matches!(call, MessagePart::Call(_)) {
                        continue;
                    }
                    self.calls += 1;
                    self.open.push((at, part));
                }
            }
            ChatRole::System | ChatRole::Tool => {}
        }
    }

    /// Returns true if a message holds only results without calls. Closes the calls that it answers.
    fn is_orphan(&mut self, message: &ChatMessage, at: usize) -> bool {
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
    fn close_calls(&mut self, conversation: &Conversation, at: usize) {
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

    /// Marks earlier reads of the same file as stale at the next step.
    fn note_reads(
        &mut self,
        conversation: &Conversation,
        policy: &PolicyLookup<'_>,
        message: &ChatMessage,
        at: usize,
    ) {
        for (part, output) in message.parts.iter().enumerate() {
            let MessagePart::Output(output) = output else {
                continue;
            };
            if !policy.limits_for(output).read {
                continue;
            }
            let Some(what) = read_identity(conversation, output) else {
                continue;
            };
            let Some((earlier, its_part)) = self.reads.insert(what, (at, part)) else {
                continue;
            };
            if earlier < self.summary_end || earlier < self.stale_end {
                continue;
            }
            let saves = match conversation.messages[earlier].parts.get(its_part) {
                Some(MessagePart::Output(output)) => stale_saves(policy.limits_for(output), output),
                _ => 0,
            };
            if saves == 0 {
                continue;
            }
            self.again.push((earlier, its_part));
            if earlier >= self.scanned {
                if let Some(entry) = self.entry(earlier) {
                    entry.saves = entry.saves.saturating_sub(saves);
                }
                self.add_free(earlier, saves);
            }
        }
    }

    pub(super) fn add_free(&mut self, at: usize, saves: usize) {
        if saves > 0 {
            self.first_free = if self.free == 0 {
                at
            } else {
                self.first_free.min(at)
            };
            self.free += saves;
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

/// Returns the identity of a read: its full arguments, so two ranges of one file differ.
fn read_identity(conversation: &Conversation, output: &ToolOutput) -> Option<String> {
    let (message, part) = output.call?;
    let MessagePart::Call(call) = conversation.messages.get(message)?.parts.get(part)? else {
        return None;
    };
    (!call.arguments.is_empty()).then(|| format!("{} {}", call.name, call.arguments))
}

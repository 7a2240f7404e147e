//! What one more message changes before anything is decided.

use super::{Entry, Placed, Plan, measure, stale_saves};
use crate::conversation::Conversation;
use crate::message::{Form, Message, Output, Own, Part, Role};
use crate::own;
use crate::policy::Rules;
use crate::size::whole;
use heirloom_model::limits::WINDOW_PLAN_CHARS_MAX;
use heirloom_model::text::excerpt;

/// A user message shorter than this keeps the former goal, characters.
const GOAL_CHARS_MIN: usize = 40;
/// A first reply longer than this is a plan, characters.
const PLAN_CHARS_MIN: usize = 50;

impl Plan {
    pub(super) fn ingest(&mut self, conversation: &Conversation, policy: &Rules<'_>, at: usize) {
        let message = &conversation.messages[at];
        self.seen = at + 1;
        self.raw_size += whole(message.chars);
        if at < self.system_end {
            self.system_size += whole(message.chars);
            return;
        }
        let orphan = self.is_orphan(message, at);
        self.close_calls(conversation, at);
        if let Some(own) = message.own {
            self.ingest_own(own, message, at);
            return;
        }
        let mut entry = measure(conversation.form, policy, message);
        if orphan || is_empty(conversation.form, message) {
            self.orphans.insert(at);
            entry = Entry::default();
        }
        entry.goal = self.goal;
        self.active_size += entry.size;
        self.entries.push(entry);
        self.hear(message, at);
        self.note_reads(conversation, policy, message, at);
        let plan_wanted = self.plan.is_none() && message.role == Role::Assistant;
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
        if message.role == Role::Assistant {
            self.request_time = message.time_ms.or(self.request_time);
        }
    }

    fn ingest_own(&mut self, own: Own, message: &Message, at: usize) {
        let text = message.text();
        self.calls = own::calls_said(&text).unwrap_or(self.calls);
        self.last_anchor = self.calls;
        if self.plan.is_none() {
            self.plan = own::plan_said(&text).map(str::to_owned);
        }
        match own {
            Own::Anchor => {
                self.anchors.push(Placed {
                    after: at,
                    came: true,
                    calls: self.calls,
                    goal: self.goal,
                    plans: own::plan_said(&text).is_some(),
                    size: whole(message.chars),
                });
                self.anchors_size += whole(message.chars);
                self.entries.push(Entry::default());
            }
            Own::Summary => {
                self.users_size += message.chars;
                self.active_size += whole(message.chars);
                self.entries.push(Entry {
                    size: whole(message.chars),
                    ..Entry::default()
                });
            }
        }
    }

    /// What a user wants and what the model calls.
    fn hear(&mut self, message: &Message, at: usize) {
        match message.role {
            Role::User => {
                let text = message.text();
                let said = text.trim();
                if (message.answers() && said.is_empty()) || said == own::LEFT_OUT {
                    return;
                }
                self.last_user = Some(at);
                let is_goal = !own::is_injected(said) && said.chars().count() >= GOAL_CHARS_MIN;
                if is_goal || self.goal.is_none() {
                    self.goal = Some(at);
                }
            }
            Role::Assistant => {
                for (part, call) in message.parts.iter().enumerate() {
                    if !matches!(call, Part::Call(_)) {
                        continue;
                    }
                    self.calls += 1;
                    self.open.push((at, part));
                }
            }
            Role::System | Role::Tool => {}
        }
    }

    /// Whether a message holds only answers to nothing. Closes the calls that it does answer.
    fn is_orphan(&mut self, message: &Message, at: usize) -> bool {
        let mut orphans = Vec::new();
        for (part, output) in message.parts.iter().enumerate() {
            let Part::Output(output) = output else {
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

    /// Calls that can have no answer any more, because something else was said.
    fn close_calls(&mut self, conversation: &Conversation, at: usize) {
        let role = |at: usize| conversation.messages[at].role;
        let goes_on = role(at) == Role::Tool
            || match conversation.form {
                Form::Openai => false,
                // One turn of answers follows; the next of the model's is too late for more.
                Form::Anthropic => {
                    role(at) == Role::Assistant && at > 0 && role(at - 1) == Role::Assistant
                }
                Form::Responses => role(at) == Role::Assistant,
            };
        if goes_on || self.open.is_empty() {
            return;
        }
        let after = at.saturating_sub(1);
        for call in std::mem::take(&mut self.open) {
            self.missing.push((after, call));
        }
    }

    /// A read of a file makes earlier reads of it stale at the next step.
    fn note_reads(
        &mut self,
        conversation: &Conversation,
        policy: &Rules<'_>,
        message: &Message,
        at: usize,
    ) {
        for (part, output) in message.parts.iter().enumerate() {
            let Part::Output(output) = output else {
                continue;
            };
            if !policy.tool(output).read {
                continue;
            }
            let Some(what) = what_was_read(conversation, output) else {
                continue;
            };
            let Some((earlier, its_part)) = self.reads.insert(what, (at, part)) else {
                continue;
            };
            if earlier < self.cut || earlier < self.bound {
                continue;
            }
            let saves = match conversation.messages[earlier].parts.get(its_part) {
                Some(Part::Output(output)) => stale_saves(policy.tool(output), output),
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

/// Whether a message says nothing where the provider takes none that does.
fn is_empty(form: Form, message: &Message) -> bool {
    form == Form::Anthropic
        && message.parts.iter().all(|part| match part {
            Part::Text { text, .. } => text.trim().is_empty(),
            Part::Call(_)
            | Part::Output(_)
            | Part::Thinking { .. }
            | Part::Image { .. }
            | Part::Unknown { .. } => false,
        })
}

/// What a read was of: the arguments, whole, so that two ranges of one file are two things.
fn what_was_read(conversation: &Conversation, output: &Output) -> Option<String> {
    let (message, part) = output.call?;
    let Part::Call(call) = conversation.messages.get(message)?.parts.get(part)? else {
        return None;
    };
    (!call.arguments.is_empty()).then(|| format!("{} {}", call.name, call.arguments))
}

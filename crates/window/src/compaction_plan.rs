//! Compaction plan: decides turn by turn what a window contains.
//!
//! Every decision depends only on the history before it and on sizes known without rendering: the size limits of
//! summaries, previews and stubs. So a whole history is replayed in one pass, and an earlier plan is continued with
//! only the new turns.

mod anchor_placement;
mod goal_and_plan;
mod message_entry;
mod repeated_reads;
mod step_decision;
mod token_calibration;
mod unanswered_calls;

use crate::conversation::Conversation;
use crate::message::{ChatMessage, ChatRole, MessagePart, ShortenedForm, ToolOutput, WireFormat};
use crate::policy_lookup::{PolicyLookup, ToolLimits};

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use token_calibration::TokenCalibration;

/// Sizes of a message that is not summarised.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActiveMessage {
    /// Characters in the current window.
    size: usize,
    /// Characters saved when it becomes stale.
    saves: usize,
    /// Characters of thinking parts, which a step before it invalidates.
    thinking: usize,
    /// Message with the goal at that time.
    goal: Option<usize>,
}

/// An anchor in this window, or one from an earlier window in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnchorPlacement {
    /// Message before it; its own index if it came back in the history.
    pub(crate) after: usize,
    /// True if it came back in the history.
    pub(crate) is_from_history: bool,
    /// Number of calls in its text.
    pub(crate) calls: usize,
    /// Message with its goal.
    pub(crate) goal: Option<usize>,
    /// True if it contains the first plan; one anchor per window does.
    pub(crate) has_plan: bool,
    size: usize,
}

/// Messages that one summary step covered.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) id: Arc<str>,
}

/// Size limits of a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SummarySize {
    /// Length of its body, characters.
    pub(crate) body: usize,
    /// Part of the body for user messages, characters.
    pub(crate) user_text: usize,
    /// Counted size of the whole message, characters.
    pub(crate) message: usize,
}

/// Measure applied in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionAction {
    /// A reminder of the goal at the tail.
    Anchor,
    /// Long outputs were shortened before they were first sent.
    Overflow,
    /// Old outputs became stubs.
    Stale,
    /// Earlier reads of a file that was read again became stubs.
    Repeat,
    /// Older messages were replaced by a summary.
    Summary,
    /// Only the last messages were kept.
    Fallback,
    /// A call without a result got a placeholder.
    Missing,
    /// A result without a call was omitted.
    Orphan,
}

impl CompactionAction {
    /// Returns the name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Overflow => "overflow",
            Self::Stale => "stale",
            Self::Repeat => "repeat",
            Self::Summary => "summary",
            Self::Fallback => "fallback",
            Self::Missing => "missing",
            Self::Orphan => "orphan",
        }
    }
}

/// The window as decided for the messages so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Number of messages processed.
    pub(crate) seen: usize,
    /// First message at which a decision is allowed: after the last inserted one.
    pub(crate) start: usize,
    /// End of the system prompt.
    pub(crate) system_end: usize,
    /// First message that is not summarised.
    pub(crate) summary_end: usize,
    /// Messages of each summary step.
    pub(crate) segments: Vec<Segment>,
    /// Size limits of the summary.
    pub(crate) summary_size: SummarySize,
    /// Number of calls before `summary_end`.
    pub(crate) summarised_calls: usize,
    /// Message with the goal at the last summary.
    pub(crate) summary_goal: Option<usize>,
    /// Messages before `summary_end` that stay in the window verbatim.
    pub(crate) pinned: Vec<usize>,
    /// Outputs before this message are stale.
    pub(crate) stale_end: usize,
    /// Outputs made stale by a later read of the same file: message and part.
    pub(crate) repeated: Vec<(usize, usize)>,
    /// Such outputs that the next step will make stale.
    again: Vec<(usize, usize)>,
    pub(crate) anchors: Vec<AnchorPlacement>,
    /// Anchors and summaries from earlier windows that were replaced.
    pub(crate) replaced: Vec<usize>,
    /// Ranges without thinking parts.
    pub(crate) without_thinking: Vec<(usize, usize)>,
    /// Calls without a result: the message after which the result would follow, and the call's message and part.
    pub(crate) missing: Vec<(usize, (usize, usize))>,
    /// Omitted messages: results without a call, and empty turns.
    pub(crate) orphans: BTreeSet<usize>,
    /// Results without a call in messages with other content: message and part.
    pub(crate) orphan_parts: BTreeSet<(usize, usize)>,
    pub(crate) calls: usize,
    pub(crate) goal: Option<usize>,
    pub(crate) plan: Option<String>,
    /// First message that the last step changed.
    pub(crate) first_changed: usize,
    /// Measures of the last decision.
    pub(crate) actions: Vec<CompactionAction>,
    /// True if the fallback was ever used.
    pub(crate) used_fallback: bool,
    /// Steps so far.
    pub(crate) steps: usize,
    /// Requests so far.
    pub(crate) turns: usize,
    /// Total cost of all requests with compaction and without, in thousandths of a token.
    pub(crate) cost_window: u64,
    pub(crate) cost_none: u64,
    entries: Vec<ActiveMessage>,
    origin: usize,
    system_size: usize,
    pinned_size: usize,
    active_size: usize,
    anchors_size: usize,
    raw_size: usize,
    raw_before: usize,
    window_before: usize,
    free: usize,
    first_free: usize,
    scanned: usize,
    last_anchor: usize,
    last_user: Option<usize>,
    users_size: usize,
    reads: HashMap<String, (usize, usize)>,
    open: Vec<(usize, usize)>,
    request_time: Option<i64>,
    prompt_chars: usize,
    gauge: TokenCalibration,
}

impl Plan {
    pub(crate) fn new(conversation: &Conversation) -> Self {
        let system_end = system_end(conversation);
        Self {
            start: conversation.inserted_end,
            prompt_chars: conversation.prompt_chars,
            raw_size: conversation.prompt_chars,
            system_end,
            summary_end: system_end,
            origin: system_end,
            scanned: system_end,
            stale_end: system_end,
            ..Self::default()
        }
    }

    /// Processes all new messages and decides at each request.
    pub(crate) fn advance(&mut self, conversation: &Conversation, policy: &PolicyLookup<'_>) {
        while self.seen < conversation.messages.len() {
            let next = self.seen;
            if is_request(conversation, next) {
                self.decide(conversation, policy);
            }
            self.add_message(conversation, policy, next);
        }
    }

    /// Returns the size of the current window, characters.
    pub(crate) fn total(&self) -> usize {
        self.prompt_chars
            + self.system_size
            + self.pinned_size
            + self.summary_size.message
            + self.active_size
            + self.anchors_size
    }

    /// Returns the size that no step can reduce, characters.
    pub(crate) fn fixed_chars(&self) -> usize {
        self.prompt_chars + self.system_size + self.pinned_size + self.summary_size.message
    }

    /// Returns true if the plan belongs to a history with this beginning.
    pub(crate) fn fits(&self, conversation: &Conversation) -> bool {
        self.start == conversation.inserted_end
            && self.prompt_chars == conversation.prompt_chars
            && self.system_end == system_end(conversation)
    }

    /// Returns the size of the uncompacted history, characters.
    pub(crate) fn raw_total(&self) -> usize {
        self.raw_size
    }

    /// Returns characters per token in thousandths.
    pub(crate) fn chars_per_token_mils(&self) -> usize {
        self.gauge.mils()
    }

    /// Returns true if usage reports calibrated the estimate.
    pub(crate) fn is_calibrated(&self) -> bool {
        self.gauge.is_calibrated()
    }

    /// Converts tokens to characters.
    fn chars_of(&self, tokens: usize) -> usize {
        tokens.saturating_mul(self.gauge.mils()) / 1_000
    }

    /// Returns true if an output is a stub in this window.
    pub(crate) fn is_stale(
        &self,
        policy: &PolicyLookup<'_>,
        at: usize,
        part: usize,
        output: &ToolOutput,
    ) -> bool {
        (at < self.stale_end || self.repeated.contains(&(at, part)))
            && stale_saves(policy.limits_for(output), output) > 0
    }

    /// Returns the message with the goal at the time of a message in the window.
    pub(crate) fn goal_at(&self, at: usize) -> Option<usize> {
        let entry = self.entries.get(at.checked_sub(self.origin)?)?;
        entry.goal
    }

    fn entry(&mut self, at: usize) -> Option<&mut ActiveMessage> {
        self.entries.get_mut(at.checked_sub(self.origin)?)
    }
}

fn system_end(conversation: &Conversation) -> usize {
    conversation
        .messages
        .iter()
        .take_while(|message| message.role == ChatRole::System && message.inserted.is_none())
        .count()
}

/// Returns true if the history before message `at` was sent as a request, which `at` answers.
fn is_request(conversation: &Conversation, at: usize) -> bool {
    let message = &conversation.messages[at];
    message.role == ChatRole::Assistant
        && at > 0
        && conversation.messages[at - 1].role != ChatRole::Assistant
}

/// Returns the size of an output when it is first sent: full, or the limit of its shortened form.
///
/// A preview or a stub from an earlier window has the size that was counted when it was made, not its length.
/// Otherwise a step would pay in the window that does not pay in the history.
fn entry_chars(tool: ToolLimits, output: &ToolOutput) -> usize {
    if output.chars > tool.max {
        return tool.preview;
    }
    match output.shortened_form {
        Some(ShortenedForm::Preview) => tool.preview,
        Some(ShortenedForm::Stub) => output.chars.max(tool.stub),
        None => output.chars,
    }
}

/// Returns true if an output is shortened when it is first sent.
pub(crate) fn is_long(policy: &PolicyLookup<'_>, output: &ToolOutput) -> bool {
    output.chars > policy.limits_for(output).max
}

/// Returns the characters saved when an output becomes stale; 0 if it never does.
fn stale_saves(tool: ToolLimits, output: &ToolOutput) -> usize {
    // Cheap test first: most outputs are shorter than a stub.
    if output.chars <= tool.stub
        || tool.critical
        || output.value_span.is_none()
        || output.shortened_form == Some(ShortenedForm::Stub)
    {
        return 0;
    }
    entry_chars(tool, output).saturating_sub(tool.stub)
}

/// Measures a message when it is first sent, and what a step can save. The size is not rounded: a step subtracts its
/// savings first, so that the result is the size of the message that the step makes.
fn measure(form: WireFormat, policy: &PolicyLookup<'_>, message: &ChatMessage) -> ActiveMessage {
    let mut entry = ActiveMessage::default();
    let mut less = 0;
    for part in &message.parts {
        match part {
            MessagePart::Output(output) => {
                let tool = policy.limits_for(output);
                less += output.chars;
                entry.size += entry_chars(tool, output);
                entry.saves += stale_saves(tool, output);
            }
            // Only Anthropic signs thinking for its position.
            MessagePart::Thinking { chars, .. } if form == WireFormat::Anthropic => {
                entry.thinking += chars
            }
            MessagePart::Thinking { .. }
            | MessagePart::Text { .. }
            | MessagePart::Call(_)
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => {}
        }
    }
    entry.size += message.chars - less;
    entry
}

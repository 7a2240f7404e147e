//! Composition: turns a plan into the pieces of a window with their texts.

use crate::compaction_plan::{self, Plan};
use crate::conversation::Conversation;
use crate::markers;
use crate::message::{InsertedMessage, MessagePart, ToolOutput};
use crate::output_truncation::{self, KeywordMatcher, OriginalRef};
use crate::policy_lookup::PolicyLookup;
use crate::summary::{SummaryTask, TextFilter};
use crate::window_state::{CachedText, WindowState};
use heirloom_model::limits::WINDOW_SUMMARY_IDS_MAX;
use heirloom_model::text::clip;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A piece of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowPiece {
    /// An unchanged inner message.
    Unchanged(usize),
    /// An inner message with replaced outputs or without some parts.
    Edited {
        /// Index of the inner message.
        at: usize,
        /// Part index and new text of each replaced output.
        outputs: Vec<(usize, Arc<str>)>,
        /// Omitted parts: thinking after a change, and results without a call.
        without: Vec<usize>,
    },
    /// A placeholder result for a call without a result.
    MissingOutput(String),
    /// A reminder of the goal.
    Anchor {
        /// Text of the message.
        text: Arc<str>,
        /// Index of the inner message with the goal.
        goal: usize,
    },
    /// A summary of older messages.
    Summary {
        /// Text of the message.
        text: Arc<str>,
        /// Index of the inner message with the goal.
        goal: Option<usize>,
    },
}

/// Text of a placeholder result.
pub(crate) const MISSING_OUTPUT_TEXT: &str = "[No result was recorded for this call.]";

/// A shortened output with the reference to its full text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortenedOutput {
    /// Index of its message in the input.
    pub index: usize,
    /// Id of the full text, derived from its content.
    pub id: String,
    /// File name of the full text below the caller's folder; `None` for a stub.
    pub name: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// Full length, characters.
    pub chars_before: usize,
    /// Length in the window, characters.
    pub chars_after: usize,
    /// Message and part with the full text; `None` if it was already shortened in the input.
    pub full_text_at: Option<(usize, usize)>,
}

/// Pieces of a window and its shortened outputs.
pub(crate) struct ComposedWindow {
    pub(crate) pieces: Vec<WindowPiece>,
    pub(crate) shortened: Vec<ShortenedOutput>,
    pub(crate) thinking_dropped: usize,
    /// Messages that became empty and were omitted.
    pub(crate) omitted: Vec<usize>,
}

pub(crate) fn compose(
    conversation: &Conversation,
    policy: &PolicyLookup<'_>,
    plan: &Plan,
    state: &mut WindowState,
    filter: &dyn TextFilter,
) -> ComposedWindow {
    let mut out = ComposedWindow {
        pieces: (0..plan.system_end).map(WindowPiece::Unchanged).collect(),
        shortened: Vec::new(),
        thinking_dropped: 0,
        omitted: Vec::new(),
    };
    if plan.summary_end > plan.system_end {
        out.pieces.push(WindowPiece::Summary {
            text: summary(conversation, plan, state, filter),
            goal: plan.summary_goal,
        });
        let pinned = plan.pinned.iter().map(|at| pinned_piece(conversation, *at));
        out.pieces.extend(pinned);
    }
    let mut anchors = plan
        .anchors
        .iter()
        .filter(|anchor| !anchor.is_from_history)
        .peekable();
    let mut missing = plan.missing.iter().peekable();
    for at in plan.summary_end..plan.seen {
        if !plan.orphans.contains(&at) && !plan.replaced.contains(&at) {
            compose_message(conversation, policy, plan, state, at, &mut out);
        }
        while let Some((_, (call, part))) = missing.next_if(|(after, _)| *after <= at) {
            if let Some(MessagePart::Call(call)) = conversation.messages[*call].parts.get(*part) {
                out.pieces.push(WindowPiece::MissingOutput(call.id.clone()));
            }
        }
        while let Some(anchor) = anchors.next_if(|anchor| anchor.after <= at) {
            if let Some(goal) = anchor.goal {
                let plan_text = plan.plan.as_deref().filter(|_| anchor.has_plan);
                let goal_text = conversation.messages[goal].text();
                let text = markers::anchor_text(&goal_text, anchor.calls, plan_text).into();
                out.pieces.push(WindowPiece::Anchor { text, goal });
            }
        }
    }
    out
}

fn compose_message(
    conversation: &Conversation,
    policy: &PolicyLookup<'_>,
    plan: &Plan,
    state: &mut WindowState,
    at: usize,
    out: &mut ComposedWindow,
) {
    let message = &conversation.messages[at];
    let mut outputs = Vec::new();
    for (part, output) in message.parts.iter().enumerate() {
        let MessagePart::Output(output) = output else {
            continue;
        };
        let stale = plan.is_stale(policy, at, part, output);
        if !stale && !compaction_plan::is_long(policy, output) {
            continue;
        }
        let key = (conversation.chain[at], part as u64 * 2 + u64::from(stale));
        let CachedText { text, whole } = state.cached_or_insert(key, || {
            let whole =
                output_truncation::original_ref(&output.text, &output.tool, message.time_ms);
            let text = if stale {
                let (most, tool) = (policy.limits_for(output).stub, &output.tool);
                output_truncation::stale_stub(&output.text, output.chars, tool, &whole, most)
            } else {
                let budget = policy.limits_for(output).preview;
                let wanted = output_keywords(conversation, plan, at, output);
                output_truncation::preview(&output.text, output.chars, budget, &whole, &wanted)
            };
            CachedText {
                text: text.into(),
                whole,
            }
        });
        out.shortened.push(ShortenedOutput {
            index: message.source_index,
            id: whole.id,
            name: (!stale).then_some(whole.name),
            tool: output.tool.clone(),
            chars_before: output.chars,
            chars_after: crate::token_estimate::chars(&text),
            full_text_at: output_truncation::original_id(&output.text)
                .is_none()
                .then_some((at, part)),
        });
        outputs.push((part, text));
    }
    let thoughtless = plan
        .without_thinking
        .iter()
        .any(|(from, to)| (*from..*to).contains(&at));
    let thoughtless = thoughtless && conversation.format == crate::WireFormat::Anthropic;
    let mut without = Vec::new();
    for (nth, part) in message.parts.iter().enumerate() {
        let is_thought = thoughtless && matches!(part, MessagePart::Thinking { .. });
        out.thinking_dropped += usize::from(is_thought);
        if is_thought || plan.orphan_parts.contains(&(at, nth)) {
            without.push(nth);
        }
    }
    let says = |(nth, part): (usize, &MessagePart)| {
        let blank = matches!(part, MessagePart::Text { text, .. } if text.trim().is_empty());
        !blank && !without.contains(&nth)
    };
    if !without.is_empty() && !message.parts.iter().enumerate().any(says) {
        out.omitted.push(at);
        return;
    }
    out.pieces
        .push(if outputs.is_empty() && without.is_empty() {
            WindowPiece::Unchanged(at)
        } else {
            WindowPiece::Edited {
                at,
                outputs,
                without,
            }
        });
}

/// Returns a pinned message without tool results, whose calls are not in the window.
fn pinned_piece(conversation: &Conversation, at: usize) -> WindowPiece {
    let message = &conversation.messages[at];
    if !message.has_outputs() {
        return WindowPiece::Unchanged(at);
    }
    let is_answer = |nth: &usize| matches!(message.parts[*nth], MessagePart::Output(_));
    WindowPiece::Edited {
        at,
        outputs: Vec::new(),
        without: (0..message.parts.len()).filter(is_answer).collect(),
    }
}

/// Collects the keywords for a preview: words of the goal, the call and its message.
fn output_keywords(
    conversation: &Conversation,
    plan: &Plan,
    at: usize,
    output: &ToolOutput,
) -> KeywordMatcher {
    let mut texts: Vec<&str> = Vec::new();
    if let Some((message, part)) = output.call {
        let call_message = &conversation.messages[message];
        if let Some(MessagePart::Call(call)) = call_message.parts.get(part) {
            texts.push(&call.arguments);
        }
        texts.extend(call_message.texts());
    }
    if let Some(goal) = plan.goal_at(at) {
        texts.extend(conversation.messages[goal].texts());
    }
    KeywordMatcher::from_texts(&texts)
}

/// Returns the summary of all messages before the cut.
fn summary(
    conversation: &Conversation,
    plan: &Plan,
    state: &mut WindowState,
    filter: &dyn TextFilter,
) -> Arc<str> {
    let goal = plan
        .summary_goal
        .map_or_else(String::new, |at| conversation.messages[at].text());
    let goal = filter.clean(&goal).into_owned();
    let ids: Vec<String> = plan
        .segments
        .iter()
        .rev()
        .take(WINDOW_SUMMARY_IDS_MAX)
        .map(|segment| segment.id.to_string())
        .collect();
    let written = state.external_summary(conversation, plan.system_end, plan.summary_end);
    let key = (
        conversation.chain[plan.summary_end - 1],
        summary_inputs_hash(plan, &ids, &written),
    );
    if let Some(left) = state.cached(key) {
        return left.text;
    }
    let retained: Vec<usize> = plan
        .pinned
        .iter()
        .filter_map(|at| at.checked_sub(plan.system_end))
        .collect();
    let task = SummaryTask {
        goal: &goal,
        earlier: written.as_ref().map(|(text, _)| text.as_str()),
        earlier_covers_all: written
            .as_ref()
            .is_some_and(|(_, end)| *end == plan.summary_end),
        retained: &retained,
        budget_chars: plan.summary_size.body,
        user_text_chars: plan.summary_size.user_text,
    };
    let messages = &conversation.messages[plan.system_end..plan.summary_end];
    let text = state.summarise(messages, &task, filter);
    let text = clip(&text, plan.summary_size.body);
    let steps = plan.plan.as_deref().map(|plan| filter.clean(plan));
    let text =
        markers::summary_text(text, &goal, plan.summarised_calls, steps.as_deref(), &ids).into();
    let whole = OriginalRef::default();
    state
        .cached_or_insert(key, || CachedText { text, whole })
        .text
}

/// Hashes the inputs of a summary other than the messages; the top bit separates it from the keys of outputs.
fn summary_inputs_hash(plan: &Plan, ids: &[String], written: &Option<(String, usize)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (
        plan.summary_goal,
        &plan.pinned,
        plan.summarised_calls,
        &plan.plan,
        ids,
    )
        .hash(&mut hasher);
    (plan.summary_size.body, plan.summary_size.user_text, written).hash(&mut hasher);
    hasher.finish() | 1 << 63
}

/// Returns true if this crate created the piece, now or in an earlier window.
pub(crate) fn is_inserted(conversation: &Conversation, piece: &WindowPiece) -> bool {
    match piece {
        WindowPiece::MissingOutput(_)
        | WindowPiece::Anchor { .. }
        | WindowPiece::Summary { .. } => true,
        WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => matches!(
            conversation.messages[*at].inserted,
            Some(InsertedMessage::Anchor | InsertedMessage::Summary)
        ),
    }
}

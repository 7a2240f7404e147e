//! From what was decided to the pieces of the window, with their texts.

use crate::conversation::Conversation;
use crate::digest::Task;
use crate::message::{Output, Own, Part};
use crate::own;
use crate::plan::{self, Plan};
use crate::policy::Rules;
use crate::shorten::{self, Wanted, Whole};
use crate::state::{Left, State};
use heirloom_model::limits::WINDOW_SUMMARY_IDS_MAX;
use heirloom_model::text::clip;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// One piece of a window, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An inner message as it came.
    Kept(usize),
    /// An inner message with other outputs, or without its thoughts.
    Edited {
        /// The inner message.
        at: usize,
        /// The part of each output that changes, and its text now.
        outputs: Vec<(usize, Arc<str>)>,
        /// The parts that are left out: thoughts behind a change, answers to nothing.
        without: Vec<usize>,
    },
    /// An answer for a call that nothing answered.
    Missing(String),
    /// A reminder of the goal.
    Anchor {
        /// Its words.
        text: Arc<str>,
        /// The inner message with the goal.
        goal: usize,
    },
    /// What older messages came to.
    Summary {
        /// Its words.
        text: Arc<str>,
        /// The inner message with the goal.
        goal: Option<usize>,
    },
}

/// What is said where an answer is missing.
pub(crate) const MISSING: &str = "[No result was recorded for this call.]";

/// An output that was shortened, and all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// The index of its message in the input.
    pub index: usize,
    /// What to ask for to get it whole: from its content.
    pub id: String,
    /// Where it is said to be kept, below the caller's folder; a stub names no file.
    pub name: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its characters whole.
    pub chars_before: usize,
    /// Its characters in the window.
    pub chars_after: usize,
    /// The inner message and the part with the whole text; `None` if it came shortened.
    pub whole: Option<(usize, usize)>,
}

/// The pieces of a window and the outputs that it shortens.
pub(crate) struct Composed {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) shortened: Vec<Shortened>,
    pub(crate) thinking_dropped: usize,
    /// Messages of which nothing was left.
    pub(crate) left_out: Vec<usize>,
}

pub(crate) fn compose(
    conversation: &Conversation,
    policy: &Rules<'_>,
    plan: &Plan,
    state: &mut State,
) -> Composed {
    let mut out = Composed {
        pieces: (0..plan.system_end).map(Piece::Kept).collect(),
        shortened: Vec::new(),
        thinking_dropped: 0,
        left_out: Vec::new(),
    };
    if plan.cut > plan.system_end {
        out.pieces.push(Piece::Summary {
            text: summary(conversation, plan, state),
            goal: plan.goal_cut,
        });
        let pinned = plan.pinned.iter().map(|at| pinned(conversation, *at));
        out.pieces.extend(pinned);
    }
    let mut anchors = plan.anchors.iter().filter(|anchor| !anchor.came).peekable();
    let mut missing = plan.missing.iter().peekable();
    for at in plan.cut..plan.seen {
        if !plan.orphans.contains(&at) && !plan.gone.contains(&at) {
            piece(conversation, policy, plan, state, at, &mut out);
        }
        while let Some((_, (call, part))) = missing.next_if(|(after, _)| *after <= at) {
            if let Some(Part::Call(call)) = conversation.messages[*call].parts.get(*part) {
                out.pieces.push(Piece::Missing(call.id.clone()));
            }
        }
        while let Some(anchor) = anchors.next_if(|anchor| anchor.after <= at) {
            if let Some(goal) = anchor.goal {
                let said = plan.plan.as_deref().filter(|_| anchor.plans);
                let goal_text = conversation.messages[goal].text();
                let text = own::anchor(&goal_text, anchor.calls, said).into();
                out.pieces.push(Piece::Anchor { text, goal });
            }
        }
    }
    out
}

fn piece(
    conversation: &Conversation,
    policy: &Rules<'_>,
    plan: &Plan,
    state: &mut State,
    at: usize,
    out: &mut Composed,
) {
    let message = &conversation.messages[at];
    let mut outputs = Vec::new();
    for (part, output) in message.parts.iter().enumerate() {
        let Part::Output(output) = output else {
            continue;
        };
        let stale = plan.is_stale(policy, at, part, output);
        if !stale && !plan::is_long(policy, output) {
            continue;
        }
        let key = (conversation.chain[at], part as u64 * 2 + u64::from(stale));
        let Left { text, whole } = state.left(key, || {
            let whole = shorten::whole(&output.text, &output.tool, message.time_ms);
            let text = if stale {
                shorten::stale(&output.text, output.chars, &output.tool, &whole)
            } else {
                let budget = policy.tool(output).preview;
                let wanted = wanted(conversation, plan, at, output);
                shorten::preview(&output.text, output.chars, budget, &whole, &wanted)
            };
            Left {
                text: text.into(),
                whole,
            }
        });
        out.shortened.push(Shortened {
            index: message.outer,
            id: whole.id,
            name: (!stale).then_some(whole.name),
            tool: output.tool.clone(),
            chars_before: output.chars,
            chars_after: crate::size::chars(&text),
            whole: shorten::original_id(&output.text)
                .is_none()
                .then_some((at, part)),
        });
        outputs.push((part, text));
    }
    let thoughtless = plan
        .unthought
        .iter()
        .any(|(from, to)| (*from..*to).contains(&at));
    let thoughtless = thoughtless && conversation.form == crate::Form::Anthropic;
    let mut without = Vec::new();
    for (nth, part) in message.parts.iter().enumerate() {
        let is_thought = thoughtless && matches!(part, Part::Thinking { .. });
        out.thinking_dropped += usize::from(is_thought);
        if is_thought || plan.orphan_parts.contains(&(at, nth)) {
            without.push(nth);
        }
    }
    let says = |(nth, part): (usize, &Part)| {
        let blank = matches!(part, Part::Text { text, .. } if text.trim().is_empty());
        !blank && !without.contains(&nth)
    };
    if !without.is_empty() && !message.parts.iter().enumerate().any(says) {
        out.left_out.push(at);
        return;
    }
    out.pieces
        .push(if outputs.is_empty() && without.is_empty() {
            Piece::Kept(at)
        } else {
            Piece::Edited {
                at,
                outputs,
                without,
            }
        });
}

/// A message that stays in front of the window: without answers, whose calls are gone.
fn pinned(conversation: &Conversation, at: usize) -> Piece {
    let message = &conversation.messages[at];
    if !message.answers() {
        return Piece::Kept(at);
    }
    let is_answer = |nth: &usize| matches!(message.parts[*nth], Part::Output(_));
    Piece::Edited {
        at,
        outputs: Vec::new(),
        without: (0..message.parts.len()).filter(is_answer).collect(),
    }
}

/// The words for which lines of an output are kept: what the goal, the call and its reasons say.
fn wanted(conversation: &Conversation, plan: &Plan, at: usize, output: &Output) -> Wanted {
    let mut texts: Vec<&str> = Vec::new();
    if let Some((message, part)) = output.call {
        let asked = &conversation.messages[message];
        if let Some(Part::Call(call)) = asked.parts.get(part) {
            texts.push(&call.arguments);
        }
        texts.extend(asked.texts());
    }
    if let Some(goal) = plan.goal_at(at) {
        texts.extend(conversation.messages[goal].texts());
    }
    Wanted::of(&texts)
}

/// The summary of everything before the window's messages.
fn summary(conversation: &Conversation, plan: &Plan, state: &mut State) -> Arc<str> {
    let goal = plan
        .goal_cut
        .map_or_else(String::new, |at| conversation.messages[at].text());
    let ids: Vec<String> = plan
        .segments
        .iter()
        .rev()
        .take(WINDOW_SUMMARY_IDS_MAX)
        .map(|segment| segment.id.to_string())
        .collect();
    let written = state.written(conversation, plan.system_end, plan.cut);
    let key = (
        conversation.chain[plan.cut - 1],
        written_from(plan, &ids, &written),
    );
    if let Some(left) = state.known(key) {
        return left.text;
    }
    let kept: Vec<usize> = plan
        .pinned
        .iter()
        .filter_map(|at| at.checked_sub(plan.system_end))
        .collect();
    let task = Task {
        goal: &goal,
        earlier: written.as_ref().map(|(text, _)| text.as_str()),
        earlier_is_all: written.as_ref().is_some_and(|(_, end)| *end == plan.cut),
        kept: &kept,
        budget_chars: plan.room.body,
        users_chars: plan.room.users,
    };
    let messages = &conversation.messages[plan.system_end..plan.cut];
    let text = state.summarise(messages, &task);
    let text = clip(&text, plan.room.body);
    let text = own::summary(text, &goal, plan.calls_cut, plan.plan.as_deref(), &ids).into();
    let whole = Whole::default();
    state.left(key, || Left { text, whole }).text
}

/// What a summary is written from besides the messages; apart from the keys of outputs.
fn written_from(plan: &Plan, ids: &[String], written: &Option<(String, usize)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (plan.goal_cut, &plan.pinned, plan.calls_cut, &plan.plan, ids).hash(&mut hasher);
    (plan.room.body, plan.room.users, written).hash(&mut hasher);
    hasher.finish() | 1 << 63
}

/// The id of the summary of everything before message `to`, from its content.
pub(crate) fn summary_id(conversation: &Conversation, to: usize) -> String {
    let chain = to
        .checked_sub(1)
        .and_then(|last| conversation.chain.get(last));
    format!("sum-{:032x}", chain.copied().unwrap_or(0))
}

/// The id of dropped messages, from their content.
pub(crate) fn segment_id(conversation: &Conversation, from: usize, to: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for message in &conversation.messages[from..to] {
        hasher.update(&message.hash);
    }
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(16);
    format!("arc-{hex}")
}

/// Whether a piece is one that we made.
pub(crate) fn is_ours(conversation: &Conversation, piece: &Piece) -> bool {
    match piece {
        Piece::Missing(_) | Piece::Anchor { .. } | Piece::Summary { .. } => true,
        Piece::Kept(at) | Piece::Edited { at, .. } => matches!(
            conversation.messages[*at].own,
            Some(Own::Anchor | Own::Summary)
        ),
    }
}

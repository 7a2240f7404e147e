//! Compaction of a history to the messages to send.

use crate::compaction_plan::{CompactionAction, Plan};
use crate::compaction_policy::Policy;
use crate::compaction_report::{CompactionReport, DroppedRange, SummaryInfo};
use crate::composition::{ComposedWindow, WindowPiece, compose};
use crate::conversation::{Conversation, ParseError};
use crate::markers;
use crate::message::{MessagePart, WireFormat};
use crate::policy_lookup::PolicyLookup;
use crate::protocol_validation::{Finding, check};
use crate::render;
use crate::segment_ids::{segment_id, summary_id};
use crate::summary::{self, TextFilter, Verbatim};
use crate::window_state::WindowState;

/// Full text of a shortened output, for the caller to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow<'a> {
    /// Id derived from the content: equal texts have equal ids.
    pub id: &'a str,
    /// File name in the preview, below the caller's folder; `None` for a stub.
    pub name: Option<&'a str>,
    /// Full text.
    pub text: &'a str,
}

/// Result of a compaction.
#[derive(Debug, Clone)]
pub struct CompactedWindow {
    /// Pieces of the window, in order.
    pub pieces: Vec<WindowPiece>,
    /// Messages to send, each as JSON in the input's wire format.
    pub messages: Vec<String>,
    /// Report of the compaction.
    pub report: CompactionReport,
}

impl CompactedWindow {
    /// Renders the window in the shape of the input: an array, or the request body with other messages.
    pub fn to_json(&self, conversation: &Conversation) -> String {
        let (before, after) = &conversation.surrounding_json;
        let length: usize = self.messages.iter().map(|message| message.len() + 1).sum();
        let mut out = String::with_capacity(before.len() + after.len() + length);
        out.push_str(before);
        for (nth, message) in self.messages.iter().enumerate() {
            if nth > 0 {
                out.push(',');
            }
            out.push_str(message);
        }
        out.push_str(after);
        out
    }

    /// Returns the text of the summary without its marker; `None` if the window has no summary.
    pub fn summary(&self) -> Option<&str> {
        self.pieces.iter().find_map(|piece| match piece {
            WindowPiece::Summary { text, .. } => Some(markers::strip_summary_header(text)),
            WindowPiece::Unchanged(_)
            | WindowPiece::Edited { .. }
            | WindowPiece::MissingOutput(_)
            | WindowPiece::Anchor { .. } => None,
        })
    }

    /// Returns the full texts of shortened outputs. Store each under its id before sending the window.
    pub fn overflows<'a>(
        &'a self,
        conversation: &'a Conversation,
    ) -> impl Iterator<Item = Overflow<'a>> {
        self.report.shortened.iter().filter_map(|one| {
            let (at, part) = one.full_text_at?;
            let MessagePart::Output(output) = conversation.messages.get(at)?.parts.get(part)?
            else {
                return None;
            };
            Some(Overflow {
                id: &one.id,
                name: one.name.as_deref(),
                text: &output.text,
            })
        })
    }
}

impl Conversation {
    /// Renders dropped messages as a JSON array, byte for byte. Store it under the id.
    pub fn archive(&self, dropped: &DroppedRange) -> String {
        let mut out = String::from("[");
        let mut last = None;
        for message in self
            .messages
            .get(dropped.inner_range.clone())
            .unwrap_or_default()
        {
            if last == Some(message.source_index) {
                continue;
            }
            if last.is_some() {
                out.push(',');
            }
            last = Some(message.source_index);
            out.push_str(&self.sources[message.source_index]);
        }
        out.push(']');
        out
    }
}

/// Computes the window of a history. The same history and policy give the same bytes, with or without a `state` from
/// an earlier call; the state only avoids processing the whole history again.
pub fn compact(
    conversation: &Conversation,
    policy: &Policy,
    state: &mut WindowState,
) -> CompactedWindow {
    compact_filtered(conversation, policy, state, &Verbatim)
}

/// Computes the window like [`compact`], with a summary whose messages passed a filter. Other messages stay unchanged.
pub fn compact_filtered(
    conversation: &Conversation,
    policy: &Policy,
    state: &mut WindowState,
    filter: &dyn TextFilter,
) -> CompactedWindow {
    let policy = &*policy.for_model(conversation.model.as_deref());
    let rules = PolicyLookup::new(policy, &state.expanded);
    let mut settled_plan = state.take_plan(conversation, policy);
    settled_plan.advance(conversation, &rules);
    let mut plan = settled_plan.clone();
    plan.decide(conversation, &rules);
    let composed = compose(conversation, &rules, &plan, state, filter);
    let (messages, places) = render::messages(conversation, &composed.pieces);
    debug_assert_eq!(new_findings(conversation, &messages), [], "{messages:#?}");
    let report = build_report(conversation, policy, &plan, &composed, &places, state);
    state.store_plan(conversation, policy, settled_plan);
    CompactedWindow {
        pieces: composed.pieces,
        messages,
        report,
    }
}

/// Returns the protocol rules that the window breaks and the history does not.
fn new_findings(conversation: &Conversation, messages: &[String]) -> Vec<Finding> {
    let mut window = Conversation::new(conversation.format);
    for (index, message) in messages.iter().enumerate() {
        if window.push(message).is_err() {
            let rule = "a message is one of its form";
            return vec![Finding { rule, index }];
        }
    }
    let before = check(conversation);
    let known = |finding: &Finding| before.iter().any(|known| known.rule == finding.rule);
    let mut out = check(&window);
    out.retain(|finding| !known(finding));
    out
}

fn build_report(
    conversation: &Conversation,
    policy: &Policy,
    plan: &Plan,
    composed: &ComposedWindow,
    places: &[usize],
    state: &WindowState,
) -> CompactionReport {
    let mils = plan.chars_per_token_mils();
    let tokens = |chars: usize| chars.saturating_mul(1_000).div_ceil(mils);
    let boundary = conversation
        .messages
        .get(plan.summary_end)
        .map_or(conversation.len(), |message| message.source_index);
    let tokens_after = tokens(plan.total());
    let over = (policy.summary_threshold > 0 && tokens_after > policy.summary_threshold)
        .then(|| over_budget_text(plan, policy, tokens_after));
    let messages = places.last().map_or(0, |last| last + 1);
    let stable = stable_end(plan, composed, places);
    CompactionReport {
        tokens_before: tokens(plan.raw_total()),
        tokens_after,
        chars_per_token_mils: mils,
        is_calibrated: plan.is_calibrated(),
        exact_tokens: None,
        boundary,
        actions: window_actions(plan, composed),
        is_rewritten: plan
            .actions
            .iter()
            .any(|action| !matches!(action, CompactionAction::Anchor)),
        first_changed: (plan.steps > 0).then_some(stable.min(messages)),
        breakpoints: breakpoints(plan, stable, messages),
        thinking_dropped: composed.thinking_dropped,
        shortened: composed.shortened.clone(),
        summary: summary_info(conversation, plan, state),
        dropped: dropped_ranges(conversation, plan, &composed.omitted),
        cost_none: plan.cost_none / 1_000,
        cost_window: plan.cost_window / 1_000,
        over_budget_reason: over,
    }
}

/// Returns the summary of the window, if any.
fn summary_info(
    conversation: &Conversation,
    plan: &Plan,
    state: &WindowState,
) -> Option<SummaryInfo> {
    if plan.summary_end <= plan.system_end {
        return None;
    }
    let id = summary_id(conversation, plan.summary_end);
    Some(SummaryInfo {
        is_external: state.summaries.contains_key(&id),
        id,
        inner_range: plan.system_end..plan.summary_end,
        chars_max: summary::external_summary_chars_max(
            plan.summary_size
                .body
                .saturating_sub(plan.summary_size.user_text),
        ),
    })
}

fn over_budget_text(plan: &Plan, policy: &Policy, tokens: usize) -> String {
    let fixed = plan.fixed_chars().saturating_mul(1_000) / plan.chars_per_token_mils();
    format!(
        "{tokens} tokens, {} wanted: {fixed} of them are the system prompt, the tools, the last \
         request and the summary, and the last exchange is never cut",
        policy.summary_threshold
    )
}

/// Returns the number of output messages before the first that the last step changed.
fn stable_end(plan: &Plan, composed: &ComposedWindow, places: &[usize]) -> usize {
    if plan.steps == 0 {
        return 0;
    }
    composed
        .pieces
        .iter()
        .position(|piece| match piece {
            WindowPiece::Unchanged(at) | WindowPiece::Edited { at, .. } => {
                *at >= plan.first_changed
            }
            WindowPiece::MissingOutput(_) | WindowPiece::Anchor { .. } => false,
            WindowPiece::Summary { .. } => plan.first_changed <= plan.summary_end,
        })
        .and_then(|piece| places.get(piece).copied())
        .unwrap_or_else(|| places.last().map_or(0, |last| last + 1))
}

/// Returns the cache breakpoints: after the system prompt, after the stable part, and at the end.
fn breakpoints(plan: &Plan, stable: usize, messages: usize) -> Vec<usize> {
    let mut out = Vec::new();
    if plan.system_end > 0 {
        out.push(plan.system_end - 1);
    }
    if stable > 0 && stable <= messages {
        out.push(stable - 1);
    }
    if messages > 0 {
        out.push(messages - 1);
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn window_actions(plan: &Plan, composed: &ComposedWindow) -> Vec<CompactionAction> {
    let any = |is: fn(&WindowPiece) -> bool| composed.pieces.iter().any(is);
    let named = composed.shortened.iter().any(|one| one.name.is_some());
    let stub = composed.shortened.iter().any(|one| one.name.is_none());
    [
        (
            any(|piece| matches!(piece, WindowPiece::Anchor { .. })),
            CompactionAction::Anchor,
        ),
        (named, CompactionAction::Overflow),
        (stub, CompactionAction::Stale),
        (!plan.repeated.is_empty(), CompactionAction::Repeat),
        (
            any(|piece| matches!(piece, WindowPiece::Summary { .. })),
            CompactionAction::Summary,
        ),
        (plan.used_fallback, CompactionAction::Fallback),
        (
            any(|piece| matches!(piece, WindowPiece::MissingOutput(_))),
            CompactionAction::Missing,
        ),
        (
            !plan.orphans.is_empty() || !plan.orphan_parts.is_empty(),
            CompactionAction::Orphan,
        ),
    ]
    .into_iter()
    .filter_map(|(is, action)| is.then_some(action))
    .collect()
}

fn dropped_ranges(conversation: &Conversation, plan: &Plan, empty: &[usize]) -> Vec<DroppedRange> {
    let outer = |at: usize| {
        conversation
            .messages
            .get(at)
            .map_or(conversation.len(), |message| message.source_index)
    };
    let one = |from: usize, to: usize, id: String| DroppedRange {
        from: outer(from),
        to: outer(to - 1) + 1,
        id,
        inner_range: from..to,
    };
    let mut out: Vec<DroppedRange> = plan
        .segments
        .iter()
        .map(|segment| one(segment.from, segment.to, segment.id.to_string()))
        .collect();
    let left_out = plan.orphans.range(plan.summary_end..).copied();
    let in_part = plan
        .orphan_parts
        .range((plan.summary_end, 0)..)
        .map(|(at, _)| *at);
    let mut alone: Vec<usize> = left_out
        .chain(in_part)
        .chain(empty.iter().copied())
        .collect();
    alone.sort_unstable();
    alone.dedup();
    out.extend(
        alone
            .into_iter()
            .map(|at| one(at, at + 1, segment_id(conversation, at, at + 1))),
    );
    out
}

/// Window for an agent's own loop: pass the whole history each turn and send the result.
#[derive(Debug, Clone)]
pub struct Window {
    policy: Policy,
    form: Option<WireFormat>,
    model: Option<String>,
    state: WindowState,
    conversation: Conversation,
}

impl Window {
    /// Creates a window with this policy.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            form: None,
            model: None,
            state: WindowState::default(),
            conversation: Conversation::new(WireFormat::Openai),
        }
    }

    /// Sets the wire format instead of detecting it.
    pub fn with_format(mut self, form: WireFormat) -> Self {
        self.form = Some(form);
        self
    }

    /// Sets the model, overriding the request body. It is the key for prices.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Continues from a stored state.
    pub fn with_state(mut self, state: WindowState) -> Self {
        self.state = state;
        self
    }

    /// Returns the state, to be stored.
    pub fn state(&self) -> &WindowState {
        &self.state
    }

    /// Returns the history of the last call, for [`CompactedWindow::overflows`] and
    /// [`Conversation::archive`].
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Computes the window of a whole history given as JSON.
    ///
    /// # Errors
    ///
    /// As [`Conversation::parse`]. The window is then unchanged.
    pub fn next(&mut self, messages: &str) -> Result<CompactedWindow, ParseError> {
        let mut read = Conversation::parse(messages, self.form)?;
        if self.model.is_some() {
            read.model.clone_from(&self.model);
        }
        self.conversation = read;
        Ok(compact(&self.conversation, &self.policy, &mut self.state))
    }
}

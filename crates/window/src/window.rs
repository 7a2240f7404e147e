//! The window itself: a history in, the messages to send out.

use crate::check::{Finding, check};
use crate::compose::{Composed, Piece, compose, segment_id, summary_id};
use crate::conversation::{Conversation, Refusal};
use crate::digest;
use crate::message::{Form, Part};
use crate::own;
use crate::plan::{Action, Plan};
use crate::policy::{Policy, Rules};
use crate::render;
use crate::report::{Dropped, Report, Summarised};
use crate::state::State;

/// A text that the window holds only in part, for the caller to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow<'a> {
    /// From its content: the same text has the same id.
    pub id: &'a str,
    /// The file that a preview names, below the caller's folder; a stub names none.
    pub name: Option<&'a str>,
    /// All of it.
    pub text: &'a str,
}

/// What a compaction gives.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The pieces of the window, in order.
    pub pieces: Vec<Piece>,
    /// The messages to send, each as JSON of the form that came in.
    pub messages: Vec<String>,
    /// What was done.
    pub report: Report,
}

impl Compacted {
    /// The window in the shape of the input: an array, or the request body with other messages.
    pub fn to_json(&self, conversation: &Conversation) -> String {
        let (before, after) = &conversation.around;
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

    /// What the summary in the window says, without its mark; none if it has none.
    pub fn summary(&self) -> Option<&str> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Summary { text, .. } => Some(own::said_in(text)),
            Piece::Kept(_) | Piece::Edited { .. } | Piece::Missing(_) | Piece::Anchor { .. } => {
                None
            }
        })
    }

    /// The texts that the window holds only in part. Keep each under its id before sending the window.
    pub fn overflows<'a>(
        &'a self,
        conversation: &'a Conversation,
    ) -> impl Iterator<Item = Overflow<'a>> {
        self.report.shortened.iter().filter_map(|one| {
            let (at, part) = one.whole?;
            let Part::Output(output) = conversation.messages.get(at)?.parts.get(part)? else {
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
    /// Dropped messages as a JSON array, whole and byte for byte. Keep it under the id.
    pub fn archive(&self, dropped: &Dropped) -> String {
        let mut out = String::from("[");
        let mut last = None;
        for message in self.messages.get(dropped.inner.clone()).unwrap_or_default() {
            if last == Some(message.outer) {
                continue;
            }
            if last.is_some() {
                out.push(',');
            }
            last = Some(message.outer);
            out.push_str(&self.outers[message.outer]);
        }
        out.push(']');
        out
    }
}

/// The window of a history: what to send now. The same history and policy give the same bytes,
/// with or without a `state` from an earlier call; the state only saves looking at it all again.
pub fn compact(conversation: &Conversation, policy: &Policy, state: &mut State) -> Compacted {
    let policy = &*policy.for_model(conversation.model.as_deref());
    let rules = Rules::new(policy, &state.expanded);
    let mut sure = state.plan(conversation, policy);
    sure.advance(conversation, &rules);
    let mut plan = sure.clone();
    plan.decide(conversation, &rules);
    let composed = compose(conversation, &rules, &plan, state);
    let (messages, places) = render::messages(conversation, &composed.pieces);
    debug_assert_eq!(new_findings(conversation, &messages), [], "{messages:#?}");
    let report = report(conversation, policy, &plan, &composed, &places, state);
    state.keep(conversation, policy, sure);
    Compacted {
        pieces: composed.pieces,
        messages,
        report,
    }
}

/// The rules of its provider that a window breaks and that the history did not break already.
fn new_findings(conversation: &Conversation, messages: &[String]) -> Vec<Finding> {
    let mut window = Conversation::new(conversation.form);
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

fn report(
    conversation: &Conversation,
    policy: &Policy,
    plan: &Plan,
    composed: &Composed,
    places: &[usize],
    state: &State,
) -> Report {
    let mils = plan.chars_per_token_mils();
    let tokens = |chars: usize| chars.saturating_mul(1_000).div_ceil(mils);
    let boundary = conversation
        .messages
        .get(plan.cut)
        .map_or(conversation.len(), |message| message.outer);
    let tokens_after = tokens(plan.total());
    let over = (policy.summary_threshold > 0 && tokens_after > policy.summary_threshold)
        .then(|| why_over(plan, policy, tokens_after));
    let messages = places.last().map_or(0, |last| last + 1);
    let stable = stable_end(plan, composed, places);
    Report {
        tokens_before: tokens(plan.raw_total()),
        tokens_after,
        chars_per_token_mils: mils,
        calibrated: plan.is_calibrated(),
        counted: None,
        boundary,
        actions: actions(plan, composed),
        stepped: plan
            .actions
            .iter()
            .any(|action| !matches!(action, Action::Anchor)),
        first_changed: (plan.steps > 0).then_some(stable.min(messages)),
        breakpoints: breakpoints(plan, stable, messages),
        thinking_dropped: composed.thinking_dropped,
        shortened: composed.shortened.clone(),
        summary: summarised(conversation, plan, state),
        dropped: dropped(conversation, plan, &composed.left_out),
        cost_none: plan.cost_none / 1_000,
        cost_window: plan.cost_window / 1_000,
        over,
    }
}

/// What the summary stands for, if there is one.
fn summarised(conversation: &Conversation, plan: &Plan, state: &State) -> Option<Summarised> {
    if plan.cut <= plan.system_end {
        return None;
    }
    let id = summary_id(conversation, plan.cut);
    Some(Summarised {
        is_written: state.summaries.contains_key(&id),
        id,
        inner: plan.system_end..plan.cut,
        chars_max: digest::told_chars(plan.room.body.saturating_sub(plan.room.users)),
    })
}

fn why_over(plan: &Plan, policy: &Policy, tokens: usize) -> String {
    let fixed = plan.fixed_chars().saturating_mul(1_000) / plan.chars_per_token_mils();
    format!(
        "{tokens} tokens, {} wanted: {fixed} of them are the system prompt, the tools, the last \
         request and the summary, and the last exchange is never cut",
        policy.summary_threshold
    )
}

/// How many messages of the output stand before the first that the last step changed.
fn stable_end(plan: &Plan, composed: &Composed, places: &[usize]) -> usize {
    if plan.steps == 0 {
        return 0;
    }
    composed
        .pieces
        .iter()
        .position(|piece| match piece {
            Piece::Kept(at) | Piece::Edited { at, .. } => *at >= plan.first_changed,
            Piece::Missing(_) | Piece::Anchor { .. } => false,
            Piece::Summary { .. } => plan.first_changed <= plan.cut,
        })
        .and_then(|piece| places.get(piece).copied())
        .unwrap_or_else(|| places.last().map_or(0, |last| last + 1))
}

/// Where a cache pays: behind the system prompt, behind what a step left, behind everything.
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

fn actions(plan: &Plan, composed: &Composed) -> Vec<Action> {
    let any = |is: fn(&Piece) -> bool| composed.pieces.iter().any(is);
    let named = composed.shortened.iter().any(|one| one.name.is_some());
    let stub = composed.shortened.iter().any(|one| one.name.is_none());
    [
        (
            any(|piece| matches!(piece, Piece::Anchor { .. })),
            Action::Anchor,
        ),
        (named, Action::Overflow),
        (stub, Action::Stale),
        (!plan.repeated.is_empty(), Action::Repeat),
        (
            any(|piece| matches!(piece, Piece::Summary { .. })),
            Action::Summary,
        ),
        (plan.fell_back, Action::Fallback),
        (
            any(|piece| matches!(piece, Piece::Missing(_))),
            Action::Missing,
        ),
        (
            !plan.orphans.is_empty() || !plan.orphan_parts.is_empty(),
            Action::Orphan,
        ),
    ]
    .into_iter()
    .filter_map(|(is, action)| is.then_some(action))
    .collect()
}

fn dropped(conversation: &Conversation, plan: &Plan, empty: &[usize]) -> Vec<Dropped> {
    let outer = |at: usize| {
        conversation
            .messages
            .get(at)
            .map_or(conversation.len(), |message| message.outer)
    };
    let one = |from: usize, to: usize, id: String| Dropped {
        from: outer(from),
        to: outer(to - 1) + 1,
        id,
        inner: from..to,
    };
    let mut out: Vec<Dropped> = plan
        .segments
        .iter()
        .map(|segment| one(segment.from, segment.to, segment.id.to_string()))
        .collect();
    let left_out = plan.orphans.range(plan.cut..).copied();
    let in_part = plan.orphan_parts.range((plan.cut, 0)..).map(|(at, _)| *at);
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

/// A window beside an agent's own loop: give it the whole history each turn, send what it gives back.
#[derive(Debug, Clone)]
pub struct Window {
    policy: Policy,
    form: Option<Form>,
    model: Option<String>,
    state: State,
    conversation: Conversation,
}

impl Window {
    /// A window kept by that policy.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            form: None,
            model: None,
            state: State::default(),
            conversation: Conversation::new(Form::Openai),
        }
    }

    /// The same for one form, whatever the history looks like.
    pub fn with_form(mut self, form: Form) -> Self {
        self.form = Some(form);
        self
    }

    /// The same for a model, whatever a request body says: prices are looked up by it.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The same, going on from a state that was kept.
    pub fn with_state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// The state, to keep.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The history of the last call, for [`Compacted::overflows`] and [`Conversation::archive`].
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The window of a whole history: JSON in, what to send out.
    ///
    /// # Errors
    ///
    /// As [`Conversation::parse`]. The window is then as it was.
    pub fn next(&mut self, messages: &str) -> Result<Compacted, Refusal> {
        let mut read = Conversation::parse(messages, self.form)?;
        if self.model.is_some() {
            read.model.clone_from(&self.model);
        }
        self.conversation = read;
        Ok(compact(&self.conversation, &self.policy, &mut self.state))
    }
}

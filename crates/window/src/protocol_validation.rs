//! Validation of requests against the protocol rules of providers.
//!
//! Checks the messages as they would be sent. Debug builds check every compaction, and tests use it as their oracle.

use crate::conversation::Conversation;
use crate::message::{ChatMessage, ChatRole, MessagePart, WireFormat};

/// A protocol rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// Index of the message in the request.
    pub index: usize,
}

type Rule = (
    &'static str,
    &'static [WireFormat],
    fn(&Conversation) -> Vec<usize>,
);

const ALL: &[WireFormat] = &[
    WireFormat::Openai,
    WireFormat::Anthropic,
    WireFormat::Responses,
];
const CHAT: &[WireFormat] = &[WireFormat::Openai];
const ANTHROPIC: &[WireFormat] = &[WireFormat::Anthropic];
const RESPONSES: &[WireFormat] = &[WireFormat::Responses];

/// All rules: name, wire formats, and the function that returns the messages that break it.
const RULES: &[Rule] = &[
    ("a result follows its call", ALL, results_without_calls),
    ("results directly follow their calls", CHAT, late_results),
    (
        "results are in the turn after their calls",
        ANTHROPIC,
        late_results,
    ),
    ("a call has a result", CHAT, calls_without_results),
    ("a call has a result", ANTHROPIC, calls_without_results),
    ("a call has a result", RESPONSES, calls_never_resolved),
    ("call ids are unique", ALL, duplicate_calls),
    ("a call has one result", ALL, duplicate_results),
    ("a turn has content", ANTHROPIC, empty_turns),
    (
        "the system prompt is not among the messages",
        ANTHROPIC,
        system_messages,
    ),
    (
        "user and model turns alternate",
        ANTHROPIC,
        non_alternating_turns,
    ),
    (
        "the first turn is a user turn",
        ANTHROPIC,
        first_turn_not_user,
    ),
    ("images are in user or tool messages", ALL, images_of_model),
];

/// Returns the broken rules of a request; empty if it may be sent.
pub fn check(request: &Conversation) -> Vec<Finding> {
    let mut out = Vec::new();
    for (rule, forms, broken) in RULES {
        if forms.contains(&request.format) {
            out.extend(broken(request).into_iter().map(|at| {
                Finding {
                    rule,
                    index: request
                        .messages
                        .get(at)
                        .map_or(0, |message| message.source_index),
                }
            }));
        }
    }
    out
}

fn positions(request: &Conversation, is: impl Fn(&ChatMessage) -> bool) -> Vec<usize> {
    (0..request.messages.len())
        .filter(|at| is(&request.messages[*at]))
        .collect()
}

fn results_without_calls(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        message.outputs().any(|output| output.call.is_none())
    })
}

/// Tracks open calls through a request; returns messages with late results, and those with unanswered calls.
fn track_calls(request: &Conversation) -> (Vec<usize>, Vec<usize>) {
    let (mut late, mut unanswered) = (Vec::new(), Vec::new());
    let mut open: Vec<(&str, usize)> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        for output in message.outputs() {
            match open.iter().position(|(id, _)| *id == output.call_id) {
                Some(place) => {
                    open.swap_remove(place);
                }
                None if output.call.is_some() => late.push(at),
                None => {}
            }
        }
        let goes_on = message.has_outputs()
            || (request.format == WireFormat::Anthropic && message.role == ChatRole::Assistant);
        if !goes_on {
            unanswered.extend(open.drain(..).map(|(_, at)| at));
        }
        open.extend(message.calls().map(|call| (call.id.as_str(), at)));
    }
    (late, unanswered)
}

fn late_results(request: &Conversation) -> Vec<usize> {
    track_calls(request).0
}

/// Calls at the very end still wait for their results and are valid.
fn calls_without_results(request: &Conversation) -> Vec<usize> {
    track_calls(request).1
}

fn calls_never_resolved(request: &Conversation) -> Vec<usize> {
    let answered: std::collections::HashSet<&str> = request
        .messages
        .iter()
        .flat_map(ChatMessage::outputs)
        .map(|output| output.call_id.as_str())
        .collect();
    let last_user = request
        .messages
        .iter()
        .rposition(|message| message.role == ChatRole::User)
        .unwrap_or(0);
    positions(request, |message| {
        message
            .calls()
            .any(|call| !answered.contains(call.id.as_str()))
    })
    .into_iter()
    .filter(|at| *at < last_user)
    .collect()
}

fn duplicate_calls(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        let mut ids: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        ids.len() < count
    })
}

fn duplicate_results(request: &Conversation) -> Vec<usize> {
    let mut answered = std::collections::HashSet::new();
    let mut out = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        for output in message.outputs() {
            if let Some(call) = output.call
                && !answered.insert(call)
            {
                out.push(at);
            }
        }
    }
    out
}

fn empty_turns(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        message.parts.iter().all(|part| match part {
            MessagePart::Text { text, .. } => text.trim().is_empty(),
            MessagePart::Call(_)
            | MessagePart::Output(_)
            | MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => false,
        })
    })
}

fn system_messages(request: &Conversation) -> Vec<usize> {
    positions(request, |message| message.role == ChatRole::System)
}

/// Finds adjacent turns of one side that an insertion made adjacent; the provider itself joins those that the program
/// sent.
fn non_alternating_turns(request: &Conversation) -> Vec<usize> {
    let ours = |at: usize| request.messages[at].inserted.is_some();
    let side = |at: usize| request.messages[at].role == ChatRole::Assistant;
    (1..request.messages.len())
        .filter(|at| {
            let (before, after) = (&request.messages[at - 1], &request.messages[*at]);
            before.source_index != after.source_index
                && side(at - 1) == side(*at)
                && (ours(at - 1) || ours(*at))
        })
        .collect()
}

fn first_turn_not_user(request: &Conversation) -> Vec<usize> {
    match request.messages.first() {
        Some(first) if first.role == ChatRole::Assistant => vec![0],
        _ => Vec::new(),
    }
}

fn images_of_model(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        message.role == ChatRole::Assistant
            && message
                .parts
                .iter()
                .any(|part| matches!(part, MessagePart::Image { .. }))
    })
}

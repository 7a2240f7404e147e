//! What providers refuse, as a table of checks over a whole request.
//!
//! It looks at the messages as they would be sent, not at how they were made: every compaction is
//! held against it while debugging, and tests use it as their judge.

use crate::conversation::Conversation;
use crate::message::{Form, Message, Part, Role};

/// A rule of a provider that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// The index of the message in the request.
    pub index: usize,
}

type Rule = (
    &'static str,
    &'static [Form],
    fn(&Conversation) -> Vec<usize>,
);

const ALL: &[Form] = &[Form::Openai, Form::Anthropic, Form::Responses];
const CHAT: &[Form] = &[Form::Openai];
const ANTHROPIC: &[Form] = &[Form::Anthropic];
const RESPONSES: &[Form] = &[Form::Responses];

/// Every rule, the forms that it holds for, and the messages that break it.
const RULES: &[Rule] = &[
    ("an answer has a call before it", ALL, answers_without_calls),
    (
        "answers stand directly behind their calls",
        CHAT,
        answers_apart,
    ),
    (
        "answers stand in the turn behind their calls",
        ANTHROPIC,
        answers_apart,
    ),
    ("a call has an answer", CHAT, calls_without_answers),
    ("a call has an answer", ANTHROPIC, calls_without_answers),
    ("a call has an answer", RESPONSES, calls_never_answered),
    ("the ids of calls differ", ALL, double_calls),
    ("a call is answered once", ALL, double_answers),
    ("a turn has content", ANTHROPIC, empty_turns),
    (
        "the system prompt stands beside the messages",
        ANTHROPIC,
        system_messages,
    ),
    ("users and the model take turns", ANTHROPIC, not_alternating),
    ("the first turn is the user's", ANTHROPIC, first_not_user),
    (
        "pictures are the user's or a tool's",
        ALL,
        pictures_of_the_model,
    ),
];

/// What is wrong with a request; nothing if it may be sent.
pub fn check(request: &Conversation) -> Vec<Finding> {
    let mut out = Vec::new();
    for (rule, forms, broken) in RULES {
        if forms.contains(&request.form) {
            out.extend(broken(request).into_iter().map(|at| Finding {
                rule,
                index: request.messages.get(at).map_or(0, |message| message.outer),
            }));
        }
    }
    out
}

/// Thoughts in a window that stand behind the first message in which it differs from the history.
pub fn thoughts_behind_changes(history: &Conversation, window: &Conversation) -> Vec<Finding> {
    let same = history
        .outers
        .iter()
        .zip(&window.outers)
        .take_while(|(a, b)| a == b)
        .count();
    let mut out = Vec::new();
    if window.form == Form::Anthropic {
        let behind = window
            .messages
            .iter()
            .filter(|message| message.outer >= same);
        out.extend(
            behind
                .filter(|message| thinks(message))
                .map(|message| Finding {
                    rule: "thoughts stand behind unchanged messages only",
                    index: message.outer,
                }),
        );
    }
    out
}

fn thinks(message: &Message) -> bool {
    message
        .parts
        .iter()
        .any(|part| matches!(part, Part::Thinking { .. }))
}

fn positions(request: &Conversation, is: impl Fn(&Message) -> bool) -> Vec<usize> {
    (0..request.messages.len())
        .filter(|at| is(&request.messages[*at]))
        .collect()
}

fn answers_without_calls(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        message.outputs().any(|output| output.call.is_none())
    })
}

/// Walks a request with the calls that are open; says what is answered late and what never is.
fn walk(request: &Conversation) -> (Vec<usize>, Vec<usize>) {
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
        let goes_on = message.answers()
            || (request.form == Form::Anthropic && message.role == Role::Assistant);
        if !goes_on {
            unanswered.extend(open.drain(..).map(|(_, at)| at));
        }
        open.extend(message.calls().map(|call| (call.id.as_str(), at)));
    }
    (late, unanswered)
}

fn answers_apart(request: &Conversation) -> Vec<usize> {
    walk(request).0
}

/// Calls at the very end wait for their answers: nothing is wrong with them.
fn calls_without_answers(request: &Conversation) -> Vec<usize> {
    walk(request).1
}

fn calls_never_answered(request: &Conversation) -> Vec<usize> {
    let answered: std::collections::HashSet<&str> = request
        .messages
        .iter()
        .flat_map(Message::outputs)
        .map(|output| output.call_id.as_str())
        .collect();
    let last_user = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::User)
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

fn double_calls(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        let mut ids: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        ids.len() < count
    })
}

fn double_answers(request: &Conversation) -> Vec<usize> {
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
            Part::Text { text, .. } => text.trim().is_empty(),
            Part::Call(_)
            | Part::Output(_)
            | Part::Thinking { .. }
            | Part::Image { .. }
            | Part::Unknown { .. } => false,
        })
    })
}

fn system_messages(request: &Conversation) -> Vec<usize> {
    positions(request, |message| message.role == Role::System)
}

/// Two turns of one side that the history did not have beside each other are joined; what a
/// program wrote so itself the provider joins.
fn not_alternating(request: &Conversation) -> Vec<usize> {
    let ours = |at: usize| request.messages[at].own.is_some();
    let side = |at: usize| request.messages[at].role == Role::Assistant;
    (1..request.messages.len())
        .filter(|at| {
            let (before, after) = (&request.messages[at - 1], &request.messages[*at]);
            before.outer != after.outer && side(at - 1) == side(*at) && (ours(at - 1) || ours(*at))
        })
        .collect()
}

fn first_not_user(request: &Conversation) -> Vec<usize> {
    match request.messages.first() {
        Some(first) if first.role == Role::Assistant => vec![0],
        _ => Vec::new(),
    }
}

fn pictures_of_the_model(request: &Conversation) -> Vec<usize> {
    positions(request, |message| {
        message.role == Role::Assistant
            && message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Image { .. }))
    })
}

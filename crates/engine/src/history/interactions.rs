//! From the turns of a session to interactions: what was wanted, how, and what came of it.

use super::FiledInteraction;
use heirloom_model::{Message, Role, Timestamp};
use serde_json::Value;

/// The attribute of a turn that is a part of an imported interaction: which part.
pub const PART: &str = "part";
/// The part that is the plan.
pub const PLAN: &str = "plan";
/// The attribute of an imported interaction's first turn: what no other turn says of it.
pub const WHOLE: &str = "interaction";

/// A goal with what followed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// When it began.
    pub at: Timestamp,
    /// What it says.
    pub said: FiledInteraction,
    /// The places of its turns among the turns that were given.
    pub turns: std::ops::Range<usize>,
}

/// The interactions of a session's turns, in their order.
///
/// One begins with what the user says after an answer. What stands before the first belongs to none of a user's goals
/// and is one without a goal. Tools are no part of it.
pub fn interactions(turns: &[Message]) -> Vec<Interaction> {
    let mut found: Vec<Interaction> = Vec::new();
    let mut open = false;
    for (n, turn) in turns.iter().enumerate() {
        let imported = turn.attrs.get(WHOLE).and_then(Value::as_object);
        let begins = imported.is_some() || (turn.role == Role::User && !open) || found.is_empty();
        if begins {
            found.push(begin(n, turn));
        }
        let Some(current) = found.last_mut() else {
            continue;
        };
        current.turns.end = n + 1;
        open = turn.role == Role::User && imported.is_none();
        let said = &mut current.said;
        match turn.role {
            Role::User => join(&mut said.goal, &turn.text),
            Role::Assistant if turn.attrs.get(PART).and_then(Value::as_str) == Some(PLAN) => {
                said.plan = plan(turn);
            }
            Role::Assistant => join(&mut said.output, &turn.text),
            Role::System | Role::ToolCall | Role::ToolResult => {}
        }
    }
    found
}

fn begin(n: usize, turn: &Message) -> Interaction {
    let mut said = FiledInteraction {
        timestamp: Some(turn.at.as_second()),
        ..FiledInteraction::default()
    };
    if let Some(Value::Object(whole)) = turn.attrs.get(WHOLE) {
        said.metadata = whole.get("metadata").cloned().unwrap_or_default();
        if let Some(Value::Object(extra)) = whole.get("extra") {
            said.extra = extra.clone();
        }
    }
    Interaction {
        at: turn.at,
        said,
        turns: n..n + 1,
    }
}

fn plan(turn: &Message) -> Value {
    let text = || Value::String(turn.text.clone());
    match turn.attrs.get("json") {
        Some(Value::Bool(true)) => serde_json::from_str(&turn.text).unwrap_or_else(|_| text()),
        _ => text(),
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

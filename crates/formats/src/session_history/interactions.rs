//! Grouping of the turns of a session into interactions: goal, plan and output.

use super::HistoryEntry;
use heirloom_model::{Message, Role, Timestamp};
use serde_json::Value;

/// Attribute of a turn of an imported interaction: the part of the interaction.
pub const PART_ATTR: &str = "part";
/// Value of [`PART_ATTR`] for the plan.
pub const PLAN_PART: &str = "plan";
/// Attribute of the first turn of an imported interaction: the fields that no other turn contains.
pub const INTERACTION_ATTR: &str = "interaction";

/// A goal with the turns that followed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Start time.
    pub at: Timestamp,
    /// Content of the interaction.
    pub entry: HistoryEntry,
    /// Range of its turns in the given turns.
    pub turns: std::ops::Range<usize>,
}

/// Returns the interactions of the turns of a session, in their order.
///
/// An interaction begins with the first message of the user after an answer. An answer before the first message forms
/// an interaction without a goal. System messages and tool calls form none.
pub fn interactions(turns: &[Message]) -> Vec<Interaction> {
    let mut found: Vec<Interaction> = Vec::new();
    let mut open = false;
    let mut is_silent = false;
    for (n, turn) in turns.iter().enumerate() {
        let imported = turn.attrs.get(INTERACTION_ATTR).and_then(Value::as_object);
        let is_next = turn.role == Role::User && !open && !is_silent;
        let begins = imported.is_some() || is_next || found.is_empty();
        is_silent = match turn.role {
            Role::System | Role::ToolCall | Role::ToolResult => is_silent || found.is_empty(),
            Role::User | Role::Assistant => false,
        };
        if begins {
            found.push(begin_interaction(n, turn));
        }
        let Some(current) = found.last_mut() else {
            continue;
        };
        current.turns.end = n + 1;
        open = turn.role == Role::User && imported.is_none();
        let entry = &mut current.entry;
        match turn.role {
            Role::User => append_paragraph(&mut entry.goal, &turn.text),
            Role::Assistant
                if turn.attrs.get(PART_ATTR).and_then(Value::as_str) == Some(PLAN_PART) =>
            {
                entry.plan = plan_of_turn(turn);
            }
            Role::Assistant => append_paragraph(&mut entry.output, &turn.text),
            Role::System | Role::ToolCall | Role::ToolResult => {}
        }
    }
    if is_silent {
        found.clear();
    }
    found
}

fn begin_interaction(n: usize, turn: &Message) -> Interaction {
    let mut entry = HistoryEntry {
        timestamp: Some(turn.at.as_second()),
        ..HistoryEntry::default()
    };
    if let Some(Value::Object(whole)) = turn.attrs.get(INTERACTION_ATTR) {
        entry.metadata = whole.get("metadata").cloned().unwrap_or_default();
        if let Some(Value::Object(extra)) = whole.get("extra") {
            entry.extra = extra.clone();
        }
    }
    Interaction {
        at: turn.at,
        entry,
        turns: n..n + 1,
    }
}

fn plan_of_turn(turn: &Message) -> Value {
    let text = || Value::String(turn.text.clone());
    match turn.attrs.get("json") {
        Some(Value::Bool(true)) => serde_json::from_str(&turn.text).unwrap_or_else(|_| text()),
        _ => text(),
    }
}

fn append_paragraph(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

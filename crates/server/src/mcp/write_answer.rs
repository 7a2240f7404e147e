//! Answer of the tools that write: its fields, its text for a model, and its schema.

use super::tool::ToolAnswer;
use heirloom_engine::AppliedChange;
use serde_json::{Value, json};

/// Converts the result of a write to JSON.
pub(super) fn write_value(applied: &AppliedChange) -> Value {
    let mut value = json!({"id": applied.id.to_string(), "outcome": applied.verdict.as_str()});
    if let Some(other) = applied.other {
        value[applied.verdict.other_name()] = json!(other.to_string());
    }
    value
}

/// Formats the answer to a write.
pub(super) fn write_answer(value: Value) -> ToolAnswer {
    let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{}: {}", word("outcome"), word("id"));
    for name in ["winner", "replaced"] {
        if value[name].is_string() {
            text.push_str(&format!(" ({name} {})", word(name)));
        }
    }
    if let Some(kinds) = value["redacted"]
        .as_array()
        .filter(|kinds| !kinds.is_empty())
    {
        let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
        text.push_str(&format!("; kept without secrets: {}", kinds.join(", ")));
    }
    ToolAnswer { text, value }
}

/// Returns the schema of [`write_value`] with additional properties.
pub(super) fn write_schema(more: Value) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The record"},
            "outcome": {"type": "string", "description": "created, confirmed, replaced, conflict, unchanged…"},
            "winner": {"type": "string", "description": "The winner, if this record lost a conflict"},
            "replaced": {"type": "string", "description": "The record that this one replaced"},
            "retired": {"type": "string"},
            "other": {"type": "string"},
        },
        "required": ["id", "outcome"],
    });
    if let (Some(properties), Value::Object(more)) = (schema["properties"].as_object_mut(), more) {
        properties.extend(more);
    }
    schema
}

/// Returns the schema of the kinds of removed secrets.
pub(super) fn redacted_schema() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": "Kinds of removed secrets"})
}

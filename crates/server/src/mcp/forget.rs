//! Tool `forget`: retires a record.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "forget",
    title: "Forget",
    about: "Retire a record that is wrong or stale. A user can restore it. Not for what a user said.",
    fields: &[ToolArgument::name("id", "As recall prints it").required()],
    output,
    effect: Effect::Retires,
    call,
};

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "outcome": {"type": "string", "enum": ["retired"]},
            "text": {"type": "string", "description": "The text of the record"},
        },
        "required": ["id", "outcome", "text"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let engine = call.engine;
    let id = engine.records().resolve_id(&call.args.require("id")?)?;
    let record = engine.records().get(id)?;
    engine.records().forget_as(id, call.client)?;
    let excerpt = text::excerpt(&record.text, 100);
    Ok(ToolAnswer {
        text: format!("retired: {id}; `heirloom undo {id}` restores it"),
        value: json!({"id": id.to_string(), "outcome": "retired", "text": excerpt}),
    })
}

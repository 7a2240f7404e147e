//! `update_memory`: a note for a group of agents.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, redacted_schema, written, written_schema};
use heirloom_engine::NewNote;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "update_memory",
    title: "Update a group's memory",
    about: "Note something for the agents of a group: it is added to the group's MEMORY.md, which each of them is \
            given, and recall finds it.",
    fields: &[
        Field::text("content", "What is noted", limits::RECORD_TEXT_BYTES_MAX).required(),
        Field::name("section", "The section of the file; Notes"),
        Field::name("group", "The group; main"),
        Field::name("agent", "The agent that notes it; you, if it is not said"),
    ],
    output,
    effect: Effect::Adds,
    call,
};

fn output() -> Value {
    written_schema(json!({
        "group": {"type": "string"},
        "file": {"type": "string", "description": "The file that has it"},
        "mended": {"type": "integer", "description": "Earlier notes that the file lacked and has again"},
        "redacted": redacted_schema(),
    }))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let noted = call.engine.update_memory(&NewNote {
        content: args.needed("content")?,
        section: args.text("section"),
        agent: Some(call.agent()?),
        group: args.text("group"),
    })?;
    Ok(written(json!({
        "id": noted.id.to_string(),
        "outcome": "created",
        "group": noted.group,
        "file": noted.file.to_string_lossy(),
        "mended": noted.mended,
        "redacted": noted.redacted,
    })))
}

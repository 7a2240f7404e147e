//! Tool `update_memory`: adds a note to a group's memory.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{redacted_schema, write_answer, write_schema};
use heirloom_engine::NewNote;
use heirloom_model::{Fault, limits};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "update_memory",
    title: "Update a group's memory",
    about: "Leave a note for the other agents of your group, in the group's MEMORY.md. For what the whole project needs use \
            remember.",
    fields: &[
        ToolArgument::text("content", "", limits::RECORD_TEXT_BYTES_MAX).required(),
        ToolArgument::name("section", "Heading; Notes"),
        ToolArgument::name("group", "main by default"),
        ToolArgument::name("agent", "").unlisted(),
    ],
    output,
    effect: Effect::Adds,
    call,
};

/// Name of the tool in one orchestrator; accepted but not listed.
pub(super) const ALIAS: &str = "UpdateMemory";

/// Argument names of [`ALIAS`], with ours.
const ALIAS_FIELDS: [(&str, &str); 10] = [
    ("Content", "content"),
    ("Section", "section"),
    ("GroupName", "group"),
    ("groupName", "group"),
    ("group_name", "group"),
    ("Group", "group"),
    ("AgentId", "agent"),
    ("AgentID", "agent"),
    ("agentId", "agent"),
    ("agent_id", "agent"),
];

/// Renames the arguments of a call by [`ALIAS`]; an argument with our name has precedence.
pub(super) fn rename_alias_fields(arguments: &mut Option<JsonObject>) {
    let Some(arguments) = arguments else { return };
    for (theirs, ours) in ALIAS_FIELDS {
        if !arguments.contains_key(ours)
            && let Some(value) = arguments.remove(theirs)
        {
            arguments.insert(ours.to_owned(), value);
        }
    }
}

fn output() -> Value {
    write_schema(json!({
        "group": {"type": "string"},
        "file": {"type": "string", "description": "The file that has it"},
        "mended": {"type": "integer", "description": "Number of earlier notes that were missing in the file and were restored"},
        "redacted": redacted_schema(),
    }))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let noted = call.engine.groups().add_note(&NewNote {
        content: args.require("content")?,
        section: args.text("section"),
        agent: Some(call.agent()?),
        group: args.text("group"),
    })?;
    Ok(write_answer(json!({
        "id": noted.id.to_string(),
        "outcome": "created",
        "group": noted.group,
        "file": noted.file.to_string_lossy(),
        "mended": noted.repaired,
        "redacted": noted.redacted,
    })))
}

//! Tool `note_step`: records a step of a task as pending or done.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{write_answer, write_schema, write_value};
use heirloom_model::kinds::StepState;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "note_step",
    title: "Note a step",
    about: "Record a step of a task as done or pending. done completes the pending step with the same words.",
    fields: &[
        ToolArgument::name("task", "").required(),
        ToolArgument::text("text", "", limits::RECORD_TEXT_BYTES_MAX).required(),
        ToolArgument::choice("state", "done by default", &["done", "pending"]),
        ToolArgument::name("agent", "").unlisted(),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    write_schema(json!({"state": {"type": "string", "enum": ["done", "pending"]}}))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let state = match args.text("state").as_deref() {
        Some("pending") => StepState::Pending,
        Some(_) | None => StepState::Done,
    };
    let (task, words) = (args.require("task")?, args.require("text")?);
    let done = call
        .engine
        .tasks()
        .step(&task, &words, state, &call.agent()?)?;
    let mut value = write_value(&done);
    value["state"] = json!(state.as_str());
    Ok(write_answer(value))
}

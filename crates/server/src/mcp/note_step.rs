//! `note_step`: what of a task is done, and what is still to do.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, applied, written, written_schema};
use heirloom_model::kinds::StepState;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "note_step",
    title: "Note a step",
    about: "Record a step of a task: still pending, or done. Done completes the pending step with the same words.",
    fields: &[
        Field::name("task", "The task").required(),
        Field::text(
            "text",
            "The step, in one line",
            limits::RECORD_TEXT_BYTES_MAX,
        )
        .required(),
        Field::choice(
            "state",
            "done (the default) or pending",
            &["done", "pending"],
        ),
        Field::name("agent", "The agent; you, if it is not said"),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    written_schema(json!({"state": {"type": "string", "enum": ["done", "pending"]}}))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let state = match args.text("state").as_deref() {
        Some("pending") => StepState::Pending,
        Some(_) | None => StepState::Done,
    };
    let (task, words) = (args.needed("task")?, args.needed("text")?);
    let done = call.engine.step(&task, &words, state, &call.agent()?)?;
    let mut value = applied(&done);
    value["state"] = json!(state.as_str());
    Ok(written(value))
}

//! Tool `log_error`: logs an error, or resolves one.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{write_answer, write_schema, write_value};
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "log_error",
    title: "Log an error",
    about: "Log an error as it was printed; the answer has the fix if it is known. With resolution: close the open error.",
    fields: &[
        ToolArgument::text(
            "text",
            "The error; to close it its id or words from it",
            limits::RECORD_TEXT_BYTES_MAX,
        )
        .required(),
        ToolArgument::text("resolution", "What helped", limits::RECORD_TEXT_BYTES_MAX),
        ToolArgument::name("task", ""),
        ToolArgument::name("phase", "").unlisted(),
        ToolArgument::name("session", "").unlisted(),
        ToolArgument::name("agent", "").unlisted(),
        ToolArgument::count("iteration", "", 1, u32::MAX as u64).unlisted(),
    ],
    output,
    effect: Effect::Adds,
    call,
};

fn output() -> Value {
    let before = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "resolution": {"type": "string"}},
        "required": ["id", "resolution"],
        "description": "How the same error was resolved before",
    });
    write_schema(json!({ "resolved_before": before }))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let (error_text, source) = (args.require("text")?, call.agent()?);
    if let Some(resolution) = args.text("resolution") {
        let resolved = call
            .engine
            .errors()
            .resolve(&error_text, &resolution, &source)?;
        let id = resolved.id.to_string();
        return Ok(write_answer(json!({"id": id, "outcome": "resolved"})));
    }
    let logged = call
        .engine
        .errors()
        .log(&error_text, call.scope(), &source)?;
    let mut value = write_value(&logged.applied);
    let Some(before) = logged.resolved_before else {
        return Ok(write_answer(value));
    };
    value["resolved_before"] = json!({
        "id": before.id.to_string(),
        "resolution": before.resolution,
    });
    let hint = format!(
        "The same error was resolved before: {} (id {})",
        text::one_line(&before.resolution),
        before.id
    );
    let mut answer = write_answer(value);
    answer.text = format!(
        "{}\n{}",
        answer.text,
        call.engine.contexts().render_envelope(&hint)
    );
    Ok(answer)
}

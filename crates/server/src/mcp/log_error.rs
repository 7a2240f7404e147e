//! `log_error`: something that went wrong, and how it was put right.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, applied, written, written_schema};
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "log_error",
    title: "Log an error",
    about: "Log an error as it was printed; the same one again is counted. The answer says how the same error was \
            resolved before. With `resolution`, the open error is resolved: say what helped.",
    fields: &[
        Field::text(
            "text",
            "What went wrong; with `resolution` its id, or words that the open error contains",
            limits::RECORD_TEXT_BYTES_MAX,
        )
        .required(),
        Field::text("resolution", "What helped", limits::RECORD_TEXT_BYTES_MAX),
        Field::name("task", "The task"),
        Field::name("phase", "The phase of the task"),
        Field::name("session", "The session"),
        Field::name("agent", "The agent; you, if it is not said"),
        Field::count(
            "iteration",
            "The iteration of a run, from 1",
            1,
            u32::MAX as u64,
        ),
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
    written_schema(json!({ "resolved_before": before }))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let (said, source) = (args.needed("text")?, call.agent()?);
    if let Some(resolution) = args.text("resolution") {
        let resolved = call.engine.resolve_error(&said, &resolution, &source)?;
        let id = resolved.id.to_string();
        return Ok(written(json!({"id": id, "outcome": "resolved"})));
    }
    let logged = call.engine.log_error(&said, call.scope(), &source)?;
    let mut value = applied(&logged.applied);
    let Some(before) = logged.resolved_before else {
        return Ok(written(value));
    };
    value["resolved_before"] = json!({
        "id": before.id.to_string(),
        "resolution": before.resolution,
    });
    let told = format!(
        "The same error was resolved before: {} (id {})",
        text::one_line(&before.resolution),
        before.id
    );
    let mut answer = written(value);
    answer.text = format!("{}\n{}", answer.text, call.engine.told(&told));
    Ok(answer)
}

//! `tried`: was this, or something like it, tried before?

use super::shape::Field;
use super::tool::{Answer, Call, DATA, Effect, Tool, data_schema, maybe};
use heirloom_engine::Tried;
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "tried",
    title: "Was it tried?",
    about: "Whether an approach, or one like it, was tried before, and how it went. Ask before you try something that \
            takes long.",
    fields: &[
        Field::text(
            "approach",
            "What you want to try",
            limits::EPISODE_TEXT_BYTES_MAX,
        )
        .required(),
        Field::name("task", "Only in this task"),
    ],
    output,
    effect: Effect::Reads,
    call,
};

fn output() -> Value {
    let one = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "task": maybe(),
            "agent": maybe(),
            "action": {"type": "string"},
            "approach": maybe(),
            "outcome": maybe(),
            "score": {"type": "number"},
            "alike": {"type": "boolean", "description": "The same or one like it, and not only near"},
            "recorded_at": {"type": "string"},
        },
        "required": ["id", "action", "score", "alike", "recorded_at"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "tried": {"type": "array", "items": one},
            "failed": {"type": "boolean", "description": "One that is alike has failed"},
        },
        "required": ["about", "tried", "failed"],
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let task = call.args.text("task");
    let found = (call.engine).tried(&call.args.needed("approach")?, task.as_deref())?;
    let mut lines: Vec<_> = found.tried.iter().map(line).collect();
    if found.failed {
        lines.push("Something like it has failed before.".to_owned());
    }
    let told = call.engine.told(&lines.join("\n"));
    let text = match told.is_empty() {
        true => "Nothing like it was tried.".to_owned(),
        false => told,
    };
    let tried: Vec<_> = found.tried.iter().map(value).collect();
    Ok(Answer {
        text,
        value: json!({"about": DATA, "tried": tried, "failed": found.failed}),
    })
}

fn line(one: &Tried) -> String {
    let approach = one.episode.approach.as_deref().unwrap_or(&one.record.text);
    let outcome = one.episode.outcome.as_deref().unwrap_or("not said");
    let task = one.record.scope.task.as_deref().unwrap_or("-");
    format!(
        "- {} (task {}): {} → {}",
        one.episode.action,
        text::one_line(task),
        text::excerpt(approach, 400),
        text::excerpt(outcome, 400)
    )
}

fn value(one: &Tried) -> Value {
    json!({
        "id": one.record.id.to_string(),
        "task": one.record.scope.task,
        "agent": one.record.scope.agent,
        "action": one.episode.action,
        "approach": one.episode.approach,
        "outcome": one.episode.outcome,
        "score": (one.score * 1e4).round() / 1e4,
        "alike": one.alike,
        "recorded_at": one.record.recorded_at.to_string(),
    })
}

//! Tool `tried`: finds similar past attempts.

use super::model_instructions::DATA_NOTICE;
use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall, data_schema, nullable_string};
use heirloom_engine::{SimilarAttempt, named_task};
use heirloom_model::kinds::result_label;
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "tried",
    title: "Was it tried?",
    about: "Find whether an approach like this one was tried, and its outcome. Ask before a long try.",
    fields: &[
        ToolArgument::text("approach", "", limits::EPISODE_TEXT_BYTES_MAX).required(),
        ToolArgument::name("task", "Only in this task"),
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
            "task": nullable_string(),
            "agent": nullable_string(),
            "action": {"type": "string"},
            "approach": nullable_string(),
            "outcome": nullable_string(),
            "score": {"type": "number"},
            "alike": {"type": "boolean", "description": "Always true: attempts that are only related are left out"},
            "recorded_at": {"type": "string"},
        },
        "required": ["id", "action", "score", "alike", "recorded_at"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "tried": {"type": "array", "items": one},
            "failed": {"type": "boolean", "description": "True if a similar approach has failed"},
        },
        "required": ["about", "tried", "failed"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let task = call.args.text("task");
    let found = (call.engine)
        .tasks()
        .similar_attempts(&call.args.require("approach")?, task.as_deref())?;
    let mut lines: Vec<_> = found.attempts.iter().map(line).collect();
    if found.has_failed {
        lines.push("A similar approach has failed before.".to_owned());
    }
    let envelope = call.engine.contexts().render_envelope(&lines.join("\n"));
    let text = match envelope.is_empty() {
        true => "No similar approach was tried.".to_owned(),
        false => envelope,
    };
    let tried: Vec<_> = found.attempts.iter().map(value).collect();
    Ok(ToolAnswer {
        text,
        value: json!({"about": DATA_NOTICE, "tried": tried, "failed": found.has_failed}),
    })
}

fn line(one: &SimilarAttempt) -> String {
    let approach = one.episode.approach.as_deref().unwrap_or(&one.record.text);
    let outcome = one.episode.outcome.as_deref().unwrap_or("unknown");
    let task = named_task(one.record.scope.task.as_deref()).unwrap_or("-");
    format!(
        "- {} (task {}): {} → {}",
        result_label(&one.episode.action),
        text::one_line(task),
        text::excerpt(approach, 400),
        text::excerpt(outcome, 400)
    )
}

fn value(one: &SimilarAttempt) -> Value {
    json!({
        "id": one.record.id.to_string(),
        "task": one.record.scope.task,
        "agent": one.record.scope.agent,
        "action": one.episode.action,
        "approach": one.episode.approach,
        "outcome": one.episode.outcome,
        "score": (one.score * 1e4).round() / 1e4,
        "alike": true,
        "recorded_at": one.record.recorded_at.to_string(),
    })
}

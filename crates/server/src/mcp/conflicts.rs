//! Tool `conflicts`: lists open conflicts between sources.

use super::model_instructions::DATA_NOTICE;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall, data_schema, nullable_string};
use heirloom_engine::Conflict;
use heirloom_model::{Fault, Record, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "conflicts",
    title: "Conflicts",
    about: "Open conflicts: sources disagree on the value of a key. Only a user or the orchestrator resolves them; tell \
            them.",
    fields: &[],
    output,
    effect: Effect::Reads,
    call,
};

fn output() -> Value {
    let side = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "text": {"type": "string"},
            "confidence": {"type": "number"},
            "source": {"type": "string"},
            "recorded_at": {"type": "string"},
        },
        "required": ["id", "text", "confidence", "source", "recorded_at"],
    });
    let one = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "category": nullable_string(),
            "key": nullable_string(),
            "disputed": {"type": "boolean", "description": "Neither value is used until the conflict is resolved"},
            "winner": side,
            "losers": {"type": "array", "items": side},
        },
        "required": ["id", "disputed", "winner", "losers"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "conflicts": {"type": "array", "items": one},
        },
        "required": ["about", "conflicts"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let found = call.engine.conflicts().list()?;
    let lines: Vec<_> = found.iter().map(line).collect();
    let envelope = call.engine.contexts().render_envelope(&lines.join("\n"));
    let text = match envelope.is_empty() {
        true => "No open conflicts.".to_owned(),
        false => envelope,
    };
    let conflicts: Vec<_> = found.iter().map(Conflict::to_json).collect();
    Ok(ToolAnswer {
        text,
        value: json!({"about": DATA_NOTICE, "conflicts": conflicts}),
    })
}

fn line(conflict: &Conflict) -> String {
    let side = |record: &Record| {
        format!(
            "\"{}\" ({}, {})",
            text::excerpt(&record.text, 300),
            text::one_line(&record.source),
            record.confidence.get()
        )
    };
    let losers: Vec<_> = conflict.losers.iter().map(side).collect();
    let how = if conflict.is_disputed() {
        "disputed"
    } else {
        "holds"
    };
    format!(
        "- {}/{}: {} {how}, against {}; id {}",
        conflict.winner.category().unwrap_or_default(),
        text::excerpt(conflict.winner.key.as_deref().unwrap_or_default(), 80),
        side(&conflict.winner),
        losers.join(" and "),
        conflict.winner.id
    )
}

//! `conflicts`: where sources say different things of one key.

use super::tool::{Answer, Call, DATA, Effect, Tool, data_schema, maybe};
use heirloom_engine::Conflict;
use heirloom_model::{Fault, Record, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "conflicts",
    title: "Conflicts",
    about: "Where sources say different things of one key and nobody has decided. Only a person or the orchestrator \
            decides, with `heirloom resolve`: tell them.",
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
            "category": maybe(),
            "key": maybe(),
            "disputed": {"type": "boolean", "description": "Neither counts before somebody has decided"},
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

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let found = call.engine.conflicts()?;
    let lines: Vec<_> = found.iter().map(line).collect();
    let told = call.engine.told(&lines.join("\n"));
    let text = match told.is_empty() {
        true => "No open conflicts.".to_owned(),
        false => told,
    };
    let conflicts: Vec<_> = found.iter().map(Conflict::to_json).collect();
    Ok(Answer {
        text,
        value: json!({"about": DATA, "conflicts": conflicts}),
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

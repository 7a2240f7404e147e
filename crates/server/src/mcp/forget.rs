//! `forget`: a record is no longer current.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool};
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "forget",
    title: "Forget",
    about: "Retire a record that turned out to be wrong or stale, by its id from recall. Its history stays, and a \
            person can bring it back. What a person said is not yours to forget.",
    fields: &[Field::name("id", "The record's id, or a unique beginning of it").required()],
    output,
    effect: Effect::Retires,
    call,
};

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "outcome": {"type": "string", "enum": ["retired"]},
            "text": {"type": "string", "description": "What it said"},
        },
        "required": ["id", "outcome", "text"],
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let engine = call.engine;
    let id = engine.resolve_id(&call.args.needed("id")?)?;
    let record = engine.get(id)?;
    let by = if call.decides { "user" } else { call.client };
    engine.forget_for(id, by)?;
    let said = text::excerpt(&record.text, 100);
    Ok(Answer {
        text: format!("retired: {id}; `heirloom undo {id}` brings it back"),
        value: json!({"id": id.to_string(), "outcome": "retired", "text": said}),
    })
}

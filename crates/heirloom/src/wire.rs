//! The JSON that other programs rely on: stable forms of what the engine answers.

pub(crate) mod lines;

use heirloom_engine::{Applied, Verdict};
use heirloom_model::context::Context;
use heirloom_model::{Event, Record, RecordId, Timestamp, text};
use serde_json::{Map, Value, json};

/// A record: the columns of the store with the kind's attributes beside them.
pub(crate) fn record(record: &Record) -> Value {
    let time = |t: Option<Timestamp>| t.map(|t| t.to_string());
    let mut value = json!({
        "id": record.id.to_string(),
        "project": record.project.as_str(),
        "kind": record.kind.as_str(),
        "key": record.key,
        "text": record.text,
        "plan": record.scope.plan,
        "group": record.scope.group,
        "session": record.scope.session,
        "task": record.scope.task,
        "agent": record.scope.agent,
        "phase": record.scope.phase,
        "iteration": record.scope.iteration,
        "source": record.source,
        "confidence": record.confidence.get(),
        "tokens": record.tokens,
        "recorded_at": record.recorded_at.to_string(),
        "true_from": time(record.true_from),
        "true_to": time(record.true_to),
        "retired_at": time(record.retired_at),
        "replaced_by": record.replaced_by.map(|id| id.to_string()),
        "expires_at": time(record.expires_at),
    });
    let mut hidden = Map::new();
    for (name, attribute) in &record.attrs {
        if value.get(name).is_some() || name == HIDDEN {
            hidden.insert(name.clone(), attribute.clone());
        } else {
            value[name] = attribute.clone();
        }
    }
    if !hidden.is_empty() {
        value[HIDDEN] = Value::Object(hidden);
    }
    value
}

/// Where attributes stand whose name is that of a column.
const HIDDEN: &str = "attrs";

/// A list under its plural name.
pub(crate) fn list(plural: &str, records: &[Record]) -> Value {
    json!({ plural: records.iter().map(record).collect::<Vec<_>>() })
}

/// One thing that happened.
pub(crate) fn event(event: &Event) -> Value {
    let id = |id: Option<RecordId>| id.map(|id| id.to_string());
    json!({
        "at": event.at.to_string(),
        "action": event.action.as_str(),
        "by": event.by,
        "id": id(event.record),
        "other": id(event.other),
        "import": id(event.batch),
        "detail": event.detail,
    })
}

/// What became of a write.
pub(crate) fn applied(applied: &Applied) -> Value {
    let mut value = json!({"id": applied.id.to_string(), "outcome": applied.verdict.as_str()});
    if let Some(other) = applied.other {
        let name = match applied.verdict {
            Verdict::Conflict => "winner",
            Verdict::Replaced => "replaced",
            Verdict::Restored => "retired",
            Verdict::Created
            | Verdict::Confirmed
            | Verdict::Unchanged
            | Verdict::Retired
            | Verdict::Marked => "other",
        };
        value[name] = json!(other.to_string());
    }
    value
}

/// A context with its receipt.
pub(crate) fn context(context: &Context) -> Value {
    let sections: Vec<_> = context
        .sections
        .iter()
        .map(|section| {
            let items: Vec<_> = section
                .items
                .iter()
                .map(|item| {
                    json!({
                        "id": item.id.map(|id| id.to_string()),
                        "text": item.excerpt,
                        "chars": item.chars,
                        "included": item.included(),
                        "reason": item.reason.as_str(),
                    })
                })
                .collect();
            json!({"name": section.name, "chars": section.chars, "items": items})
        })
        .collect();
    json!({
        "text": context.text,
        "chars": text::chars(&context.text),
        "tokens": text::tokens(&context.text),
        "sections": sections,
    })
}

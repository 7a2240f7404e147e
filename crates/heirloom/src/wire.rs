//! The JSON that other programs rely on: stable forms of what the engine answers.

pub(crate) mod lines;

use heirloom_engine::recall::{Item, Ranked};
use heirloom_engine::{Applied, Verdict};
use heirloom_model::context::Context;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Event, Kind, KindData, Record, RecordId, Scope, Timestamp, limits, text};
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

/// A hit of a recall; with `parts` what its score is made of.
pub(crate) fn hit(hit: &Ranked, parts: bool) -> Value {
    let (kind, scope) = match &hit.item {
        Item::Record(record) => (record.kind.as_str(), scope(&record.scope)),
        Item::Turn { session, .. } => ("message", json!({ "session": session })),
    };
    let mut value = json!({
        "id": hit.item.id().to_string(),
        "kind": kind,
        "text": hit.item.text(),
        "score": rounded(hit.parts.total),
        "scope": scope,
        "source": hit.item.source(),
        "recorded_at": hit.item.recorded_at().to_string(),
    });
    if let Item::Record(record) = &hit.item {
        for (name, said) in [
            ("key", record.key.as_deref()),
            ("category", record.category()),
        ] {
            if let Some(said) = said {
                value[name] = json!(said);
            }
        }
        if record.attrs.contains_key("line") {
            for name in ["file", "line"] {
                value[name] = record.attrs.get(name).cloned().unwrap_or_default();
            }
        }
        // Of an error they say since when it is known.
        let is_knowledge = record.kind == Kind::Knowledge;
        let times = [("true_from", record.true_from), ("true_to", record.true_to)];
        for (name, time) in times {
            if let Some(time) = time.filter(|_| is_knowledge) {
                value[name] = json!(time.to_string());
            }
        }
        if Knowledge::of(record).is_ok_and(|knowledge| knowledge.disputed) {
            value["disputed"] = json!(true);
        }
    }
    if !hit.folded.is_empty() {
        let ids: Vec<_> = hit.folded.iter().map(ToString::to_string).collect();
        value["folded"] = json!(ids);
    }
    if parts {
        let named = hit.parts.named().into_iter();
        let named = named.map(|(name, part)| (name.to_owned(), json!(rounded(part))));
        value["parts"] = Value::Object(named.collect());
    }
    value
}

/// The coordinates that are set.
fn scope(scope: &Scope) -> Value {
    let names = scope.names().into_iter();
    let mut set: Map<String, Value> = names
        .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
        .collect();
    if let Some(iteration) = scope.iteration {
        set.insert("iteration".to_owned(), json!(iteration));
    }
    Value::Object(set)
}

/// A score as it is told: the last digits say nothing.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// What became of a write.
pub(crate) fn applied(applied: &Applied) -> Value {
    let mut value = json!({"id": applied.id.to_string(), "outcome": applied.verdict.as_str()});
    if let Some(other) = applied.other {
        let name = match applied.verdict {
            Verdict::Conflict => "winner",
            Verdict::Replaced => "replaced",
            Verdict::Restored | Verdict::Resolved | Verdict::Reopened => "retired",
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
                        "file": item.file,
                        "score": item.score,
                        "chars": item.chars,
                        "tokens": item.chars.div_ceil(limits::CHARS_PER_TOKEN),
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
        "notes": context.notes,
    })
}

//! JSON output that other programs rely on: stable formats of the engine's results.

use heirloom_engine::AppliedChange;
use heirloom_model::context::Context;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Event, Kind, KindData, Record, RecordId, Scope, Timestamp, limits, text};
use heirloom_search::recall::{Ranked, RecallItem};
use serde_json::{Map, Value, json};

/// Formats a record: the columns of the store together with the kind's attributes.
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
    let mut shadowed = Map::new();
    for (name, attribute) in &record.attrs {
        if value.get(name).is_some() || name == SHADOWED_ATTRIBUTES {
            shadowed.insert(name.clone(), attribute.clone());
        } else {
            value[name] = attribute.clone();
        }
    }
    if !shadowed.is_empty() {
        value[SHADOWED_ATTRIBUTES] = Value::Object(shadowed);
    }
    value
}

/// Field for attributes that have the name of a column.
const SHADOWED_ATTRIBUTES: &str = "attrs";

/// Formats a list under its plural name.
pub(crate) fn list(plural: &str, records: &[Record]) -> Value {
    json!({ plural: records.iter().map(record).collect::<Vec<_>>() })
}

/// Formats an audit event.
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

/// Formats a recall hit; `parts` includes the score breakdown.
pub(crate) fn hit(hit: &Ranked, parts: bool) -> Value {
    let (kind, scope) = match &hit.item {
        RecallItem::Record(record) => (record.kind.as_str(), scope(&record.scope)),
        RecallItem::Turn { session, .. } => ("message", json!({ "session": session })),
    };
    let mut value = json!({
        "id": hit.item.id().to_string(),
        "kind": kind,
        "text": hit.item.text(),
        "score": rounded(hit.breakdown.total),
        "scope": scope,
        "source": hit.item.source(),
        "recorded_at": hit.item.recorded_at().to_string(),
    });
    if let (Some(relevance), Some(grade)) = (hit.relevance, hit.grade()) {
        value["relevance"] = json!(rounded(relevance));
        value["grade"] = json!(grade.as_str());
    }
    if let RecallItem::Record(record) = &hit.item {
        let meaning = record_meaning(record);
        if meaning != record.text {
            value["meaning"] = json!(meaning);
        }
        for (name, value_text) in [
            ("key", record.key.as_deref()),
            ("category", record.category()),
        ] {
            if let Some(value_text) = value_text {
                value[name] = json!(value_text);
            }
        }
        if record.attrs.contains_key("line") {
            for name in ["file", "line"] {
                value[name] = record.attrs.get(name).cloned().unwrap_or_default();
            }
        }
        // On errors these times are only the time of recording.
        let is_knowledge = record.kind == Kind::Knowledge;
        let times = [("true_from", record.true_from), ("true_to", record.true_to)];
        for (name, time) in times {
            if let Some(time) = time.filter(|_| is_knowledge) {
                value[name] = json!(time.to_string());
            }
        }
        if Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.disputed) {
            value["disputed"] = json!(true);
        }
    }
    if !hit.duplicates.is_empty() {
        let ids: Vec<_> = hit.duplicates.iter().map(ToString::to_string).collect();
        value["folded"] = json!(ids);
    }
    if parts {
        let named = hit.breakdown.labelled().into_iter();
        let named = named.map(|(name, part)| (name.to_owned(), json!(rounded(part))));
        value["parts"] = Value::Object(named.collect());
    }
    value
}

/// Formats the coordinates of a scope that are set.
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

/// Rounds a score to four decimal places.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// Formats the outcome of a write.
pub(crate) fn applied(applied: &AppliedChange) -> Value {
    let mut value = json!({"id": applied.id.to_string(), "outcome": applied.verdict.as_str()});
    if let Some(other) = applied.other {
        value[applied.verdict.other_name()] = json!(other.to_string());
    }
    value
}

/// Formats a context with its receipt.
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
                        "relevance": item.relevance.map(rounded),
                        "worth": item.worth.map(rounded),
                        "chars": item.chars,
                        "tokens": item.chars.div_ceil(limits::CHARS_PER_TOKEN),
                        "included": item.is_included(),
                        "reason": item.reason.text(),
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

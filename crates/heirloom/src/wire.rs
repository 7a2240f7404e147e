//! The JSON that other programs rely on: stable forms of what the engine answers.

use heirloom_engine::{Applied, Verdict};
use heirloom_model::context::Context;
use heirloom_model::kinds::CATEGORY_FACT;
use heirloom_model::record::{Attrs, ProjectName};
use heirloom_model::{Confidence, Kind, Record, Scope, Timestamp, text};
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
    for (name, attribute) in &record.attrs {
        if value.get(name).is_none() {
            value[name] = attribute.clone();
        }
    }
    value
}

/// A list under its plural name.
pub(crate) fn list(plural: &str, records: &[Record]) -> Value {
    json!({ plural: records.iter().map(record).collect::<Vec<_>>() })
}

/// What became of a write.
pub(crate) fn applied(applied: &Applied) -> Value {
    let mut value = json!({"id": applied.id.to_string(), "outcome": applied.verdict.as_str()});
    if let Some(other) = applied.other {
        let name = match applied.verdict {
            Verdict::Conflict => "winner",
            Verdict::Replaced => "replaced",
            Verdict::Restored => "retired",
            Verdict::Created | Verdict::Confirmed | Verdict::Unchanged | Verdict::Retired => {
                "other"
            }
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

/// The record that a line of an export describes; an error says which column is wrong.
pub(crate) fn parse_record(value: Value, project: &ProjectName) -> Result<Record, String> {
    let Value::Object(mut map) = value else {
        return Err("expected an object".to_owned());
    };
    map.remove("project");
    let id = text_of(&mut map, "id")?
        .ok_or("`id` is missing")?
        .parse()
        .map_err(|e| format!("`id`: {e}"))?;
    let kind: Kind = text_of(&mut map, "kind")?
        .ok_or("`kind` is missing")?
        .parse()
        .map_err(|e| format!("`kind`: {e}"))?;
    let said = text_of(&mut map, "text")?.ok_or("`text` is missing")?;
    let recorded_at = time_of(&mut map, "recorded_at")?.ok_or("`recorded_at` is missing")?;
    let confidence = match map.remove("confidence").and_then(|value| value.as_f64()) {
        Some(value) => Confidence::new(value)
            .ok_or_else(|| format!("`confidence`: {value} is outside 0..1"))?,
        None => Confidence::FULL,
    };
    let tokens = map
        .remove("tokens")
        .and_then(|value| value.as_u64())
        .and_then(|n| u32::try_from(n).ok());
    let iteration = map
        .remove("iteration")
        .and_then(|value| value.as_u64())
        .and_then(|n| u32::try_from(n).ok());
    let replaced_by = match text_of(&mut map, "replaced_by")? {
        Some(id) => Some(id.parse().map_err(|e| format!("`replaced_by`: {e}"))?),
        None => None,
    };
    if kind == Kind::Knowledge && !map.contains_key("category") {
        map.insert("category".to_owned(), json!(CATEGORY_FACT));
    }
    Ok(Record {
        project: project.clone(),
        id,
        kind,
        key: text_of(&mut map, "key")?,
        scope: Scope {
            plan: text_of(&mut map, "plan")?,
            group: text_of(&mut map, "group")?,
            session: text_of(&mut map, "session")?,
            task: text_of(&mut map, "task")?,
            agent: text_of(&mut map, "agent")?,
            phase: text_of(&mut map, "phase")?,
            iteration,
        },
        source: text_of(&mut map, "source")?.unwrap_or_else(|| "import".to_owned()),
        confidence,
        tokens: tokens.unwrap_or_else(|| u32::try_from(text::tokens(&said)).unwrap_or(u32::MAX)),
        recorded_at,
        true_from: time_of(&mut map, "true_from")?,
        true_to: time_of(&mut map, "true_to")?,
        retired_at: time_of(&mut map, "retired_at")?,
        replaced_by,
        expires_at: time_of(&mut map, "expires_at")?,
        text: said,
        attrs: map.into_iter().collect::<Attrs>(),
    })
}

fn text_of(map: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match map.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(said)) => Ok(Some(said)),
        Some(_) => Err(format!("`{name}`: expected a text")),
    }
}

fn time_of(map: &mut Map<String, Value>, name: &str) -> Result<Option<Timestamp>, String> {
    text_of(map, name)?
        .map(|said| said.parse().map_err(|error| format!("`{name}`: {error}")))
        .transpose()
}

//! Lines of an export: records, and with `--all` also their validity gaps, sessions and messages.

use heirloom_model::kinds::CATEGORY_FACT;
use heirloom_model::record::{Attrs, ProjectName, check_name};
use heirloom_model::{
    Confidence, Kind, Message, Record, RecordId, Role, Scope, Session, Timestamp, ValidityGap, text,
};
use serde_json::{Map, Value, json};

/// Error for a line that is not a record of an export.
pub(crate) const MISSING_ID: &str = "`id` is missing";

/// `kind` of a session's line.
const SESSION: &str = "session";
/// `kind` of a message's line.
const MESSAGE: &str = "message";
/// `kind` of a validity gap's line.
const LAPSE: &str = "lapse";

/// A parsed line.
pub(crate) enum ExportLine {
    /// A record.
    Record(Box<Record>),
    /// A session.
    Session(Session),
    /// A message, and the id of its session.
    Message(String, Message),
    /// A time span in which this record was not current.
    Lapse(RecordId, ValidityGap),
}

/// Formats the line of a session.
pub(crate) fn session_line(session: &Session) -> Value {
    json!({
        "kind": SESSION,
        "id": session.id,
        "agent": session.agent,
        "task": session.task,
        "started_at": session.started_at.to_string(),
        "ended_at": session.ended_at.map(|time| time.to_string()),
        "attrs": session.attrs,
    })
}

/// Formats the line of a message.
pub(crate) fn message_line(session: &Session, message: &Message) -> Value {
    json!({
        "kind": MESSAGE,
        "session": session.id,
        "seq": message.seq,
        "id": message.id.to_string(),
        "role": message.role.as_str(),
        "sender": message.sender,
        "text": message.text,
        "attrs": message.attrs,
        "tokens": message.tokens,
        "at": message.at.to_string(),
    })
}

/// Formats the line of a validity gap.
pub(crate) fn lapse_line(record: RecordId, lapse: ValidityGap) -> Value {
    json!({
        "kind": LAPSE,
        "record": record.to_string(),
        "retired_at": lapse.retired_at.to_string(),
        "restored_at": lapse.restored_at.to_string(),
    })
}

/// Parses a line; an error names the invalid column.
pub(crate) fn parse(value: Value, project: &ProjectName) -> Result<ExportLine, String> {
    let Value::Object(mut map) = value else {
        return Err("expected an object".to_owned());
    };
    map.remove("project");
    match map.get("kind").and_then(Value::as_str) {
        Some(SESSION) => session(map, project).map(ExportLine::Session),
        Some(MESSAGE) => message(map),
        Some(LAPSE) => lapse(map),
        Some(_) | None => record(map, project).map(|record| ExportLine::Record(Box::new(record))),
    }
}

fn session(mut map: Map<String, Value>, project: &ProjectName) -> Result<Session, String> {
    let id = required(text_of(&mut map, "id")?, "id")?;
    check_name(SESSION, &id).map_err(|error| error.to_string())?;
    Ok(Session {
        project: project.clone(),
        id,
        agent: text_of(&mut map, "agent")?,
        task: text_of(&mut map, "task")?,
        started_at: required(time_of(&mut map, "started_at")?, "started_at")?,
        ended_at: time_of(&mut map, "ended_at")?,
        attrs: attrs_of(&mut map)?,
    })
}

fn message(mut map: Map<String, Value>) -> Result<ExportLine, String> {
    let session = required(text_of(&mut map, "session")?, "session")?;
    let id = required(text_of(&mut map, "id")?, "id")?;
    let role = required(text_of(&mut map, "role")?, "role")?;
    let text_value = required(text_of(&mut map, "text")?, "text")?;
    let message = Message {
        id: id.parse().map_err(|error| format!("`id`: {error}"))?,
        seq: 0,
        role: role
            .parse::<Role>()
            .map_err(|error| format!("`role`: {error}"))?,
        sender: text_of(&mut map, "sender")?,
        attrs: attrs_of(&mut map)?,
        tokens: tokens_of(&mut map, &text_value),
        at: required(time_of(&mut map, "at")?, "at")?,
        text: text_value,
    };
    Ok(ExportLine::Message(session, message))
}

fn lapse(mut map: Map<String, Value>) -> Result<ExportLine, String> {
    let record = required(text_of(&mut map, "record")?, "record")?;
    let record = record
        .parse()
        .map_err(|error| format!("`record`: {error}"))?;
    let lapse = ValidityGap {
        retired_at: required(time_of(&mut map, "retired_at")?, "retired_at")?,
        restored_at: required(time_of(&mut map, "restored_at")?, "restored_at")?,
    };
    if lapse.restored_at < lapse.retired_at {
        return Err("`restored_at` is before `retired_at`".to_owned());
    }
    Ok(ExportLine::Lapse(record, lapse))
}

fn required<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("`{name}` is missing"))
}

fn attrs_of(map: &mut Map<String, Value>) -> Result<Attrs, String> {
    match map.remove("attrs") {
        None | Some(Value::Null) => Ok(Attrs::new()),
        Some(Value::Object(attrs)) => Ok(attrs),
        Some(_) => Err("`attrs`: expected an object".to_owned()),
    }
}

fn tokens_of(map: &mut Map<String, Value>, text_value: &str) -> u32 {
    let given = map.remove("tokens").and_then(|value| value.as_u64());
    let tokens = given.unwrap_or_else(|| text::tokens(text_value) as u64);
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

fn record(mut map: Map<String, Value>, project: &ProjectName) -> Result<Record, String> {
    let id = text_of(&mut map, "id")?
        .ok_or(MISSING_ID)?
        .parse()
        .map_err(|e| format!("`id`: {e}"))?;
    let kind: Kind = text_of(&mut map, "kind")?
        .ok_or("`kind` is missing")?
        .parse()
        .map_err(|e| format!("`kind`: {e}"))?;
    let text_value = text_of(&mut map, "text")?.ok_or("`text` is missing")?;
    let recorded_at = time_of(&mut map, "recorded_at")?.ok_or("`recorded_at` is missing")?;
    let confidence = match map.remove("confidence").and_then(|value| value.as_f64()) {
        Some(value) => Confidence::new(value)
            .ok_or_else(|| format!("`confidence`: {value} is outside 0..1"))?,
        None => Confidence::FULL,
    };
    let tokens = tokens_of(&mut map, &text_value);
    let iteration = map
        .remove("iteration")
        .and_then(|value| value.as_u64())
        .and_then(|n| u32::try_from(n).ok());
    let replaced_by = match text_of(&mut map, "replaced_by")? {
        Some(id) => Some(id.parse().map_err(|e| format!("`replaced_by`: {e}"))?),
        None => None,
    };
    // Attributes that have the name of a column.
    let hidden = attrs_of(&mut map)?;
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
        tokens,
        recorded_at,
        true_from: time_of(&mut map, "true_from")?,
        true_to: time_of(&mut map, "true_to")?,
        retired_at: time_of(&mut map, "retired_at")?,
        replaced_by,
        expires_at: time_of(&mut map, "expires_at")?,
        text: text_value,
        attrs: map.into_iter().chain(hidden).collect::<Attrs>(),
    })
}

fn text_of(map: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match map.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text_value)) => Ok(Some(text_value)),
        Some(_) => Err(format!("`{name}`: expected a text")),
    }
}

fn time_of(map: &mut Map<String, Value>, name: &str) -> Result<Option<Timestamp>, String> {
    text_of(map, name)?
        .map(|text_value| {
            text_value
                .parse()
                .map_err(|error| format!("`{name}`: {error}"))
        })
        .transpose()
}

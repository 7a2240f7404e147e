//! What a store refuses before it touches the database.

use crate::{Change, Filter, NewVectors, Receipt, Selection, StoreError};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Message, ProjectName, Record, RecordId, Session, limits};
use serde_json::Value;

/// Checks a list of changes for `project`.
pub(crate) fn changes(project: &ProjectName, changes: &[Change]) -> Result<(), StoreError> {
    at_most("changes in one write", changes.len(), limits::CHANGES_MAX)?;
    for change in changes {
        match change {
            Change::Put {
                record: newcomer, ..
            } => {
                record(project, newcomer)?;
                if newcomer.retired_at.is_none() && newcomer.replaced_by.is_some() {
                    return invalid(format!(
                        "record {} has a successor but is not retired",
                        newcomer.id
                    ));
                }
            }
            Change::Revise {
                record: newcomer, ..
            } => {
                record(project, newcomer)?;
                if newcomer.retired_at.is_some() || newcomer.replaced_by.is_some() {
                    return invalid(format!("the successor {} is already retired", newcomer.id));
                }
            }
            Change::Retire { by, .. }
            | Change::Restore { by, .. }
            | Change::Settle { by, .. }
            | Change::Unsettle { by, .. }
            | Change::Mark { by, .. }
            | Change::Reverse { by, .. } => name("source", by)?,
            Change::Begin(batch) => {
                name("source", &batch.by)?;
                name("source of the import", &batch.source)?;
            }
            Change::TakeSession(taken) => {
                if taken.project != *project {
                    return invalid(format!(
                        "session `{}` belongs to project `{}`, not `{project}`",
                        taken.id, taken.project
                    ));
                }
                session(taken)?;
            }
            Change::TakeLapse { id, lapse } if lapse.restored_at < lapse.retired_at => {
                return invalid(format!("record {id} came back before it was retired"));
            }
            Change::Keep(kept) => receipt(kept)?,
            Change::TakeLapse { .. } => {}
            Change::TakeMessage { message, .. } => {
                messages(std::slice::from_ref(message.as_ref()))?;
            }
        }
    }
    Ok(())
}

/// Checks a question.
pub(crate) fn filter(filter: &Filter) -> Result<(), StoreError> {
    limit("find", filter.limit)?;
    ids(&filter.ids)
}

/// Checks the number of answers that are asked for.
pub(crate) fn limit(what: &str, limit: usize) -> Result<(), StoreError> {
    at_most(&format!("answers of `{what}`"), limit, limits::FIND_MAX)
}

/// Checks the ids that are asked for.
pub(crate) fn ids(ids: &[RecordId]) -> Result<(), StoreError> {
    at_most("ids in one question", ids.len(), limits::CHANGES_MAX)
}

/// Checks the number of events that are asked for.
pub(crate) fn events(limit: usize) -> Result<(), StoreError> {
    at_most("events", limit, limits::EVENTS_MAX)
}

/// Checks the name of a model.
pub(crate) fn model(model: &str) -> Result<(), StoreError> {
    if model.trim().is_empty() {
        return invalid("the model has no name".to_owned());
    }
    at_most(
        "bytes in the name of a model",
        model.len(),
        limits::EMBEDDING_MODEL_BYTES_MAX,
    )
}

/// Checks vectors that are to be kept.
pub(crate) fn vectors(vectors: &NewVectors) -> Result<(), StoreError> {
    model(&vectors.model)?;
    at_most(
        "vectors in one write",
        vectors.rows.len(),
        limits::EMBEDDING_BATCH_TEXTS_MAX,
    )?;
    for (_, numbers) in &vectors.rows {
        let dims = numbers.as_ref().map_or(0, Vec::len);
        at_most("numbers of a vector", dims, limits::EMBEDDING_DIMS_MAX)?;
    }
    Ok(())
}

/// Checks what is to be deleted.
pub(crate) fn selection(selection: &Selection) -> Result<(), StoreError> {
    match selection {
        Selection::Records(ids) => at_most("records in one purge", ids.len(), limits::CHANGES_MAX),
        Selection::Containing(text) if text.trim().is_empty() => {
            invalid("an empty text is in every record".to_owned())
        }
        Selection::Containing(text) => at_most(
            "bytes of a text to look for",
            text.len(),
            limits::PURGE_TEXT_BYTES_MAX,
        ),
        Selection::Session(session) => name("session", session),
        Selection::Project => Ok(()),
    }
}

/// Checks a receipt.
fn receipt(receipt: &Receipt) -> Result<(), StoreError> {
    optional_name("session", receipt.session.as_deref())?;
    at_most(
        "records of a receipt",
        receipt.records.len(),
        limits::CHANGES_MAX,
    )?;
    let size = Value::Object(receipt.body.clone()).to_string().len();
    at_most("bytes of a receipt", size, limits::RECEIPT_BYTES_MAX)
}

/// Checks a session.
pub(crate) fn session(session: &Session) -> Result<(), StoreError> {
    name("session", &session.id)?;
    optional_name("agent", session.agent.as_deref())?;
    optional_name("task", session.task.as_deref())
}

/// Checks the turns that are to be appended.
pub(crate) fn messages(messages: &[Message]) -> Result<(), StoreError> {
    at_most("messages in one write", messages.len(), limits::CHANGES_MAX)?;
    for message in messages {
        optional_name("sender", message.sender.as_deref())?;
        let size = message.text.len();
        at_most("bytes of a message", size, limits::MESSAGE_BYTES_MAX)?;
    }
    Ok(())
}

/// Attributes as they are stored: none for an empty object.
pub(crate) fn attrs_json(attrs: &Attrs) -> Result<Option<String>, StoreError> {
    if attrs.is_empty() {
        return Ok(None);
    }
    let json = serde_json::to_string(attrs)
        .map_err(|error| StoreError::Invalid(format!("attributes are no JSON: {error}")))?;
    at_most("bytes of attributes", json.len(), limits::ATTRS_BYTES_MAX)?;
    Ok(Some(json))
}

fn record(project: &ProjectName, record: &Record) -> Result<(), StoreError> {
    if record.project != *project {
        return invalid(format!(
            "record {} belongs to project `{}`, not `{project}`",
            record.id, record.project
        ));
    }
    let size = record.text.len();
    at_most(
        "bytes of a record's text",
        size,
        limits::RECORD_TEXT_BYTES_MAX,
    )?;
    if let Some(key) = &record.key {
        at_most("bytes of a key", key.len(), limits::KEY_BYTES_MAX)?;
    }
    name("source", &record.source)?;
    for (what, value) in record.scope.names() {
        optional_name(what, value)?;
    }
    word("category", &record.attrs)?;
    word("state", &record.attrs)
}

/// An attribute that is part of identities and indexes: a name or nothing.
fn word(what: &str, attrs: &Attrs) -> Result<(), StoreError> {
    match attrs.get(what) {
        None => Ok(()),
        Some(Value::String(value)) => name(what, value),
        Some(_) => invalid(format!("the {what} must be text")),
    }
}

fn optional_name(what: &str, value: Option<&str>) -> Result<(), StoreError> {
    value.map_or(Ok(()), |value| name(what, value))
}

fn name(what: &str, value: &str) -> Result<(), StoreError> {
    check_name(what, value).map_err(|bad| StoreError::Invalid(bad.to_string()))
}

fn at_most(what: &str, found: usize, max: usize) -> Result<(), StoreError> {
    if found > max {
        return invalid(format!("{found} {what}; at most {max} are allowed"));
    }
    Ok(())
}

fn invalid<T>(problem: String) -> Result<T, StoreError> {
    Err(StoreError::Invalid(problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::{Role, clock};

    #[test]
    fn a_message_has_a_cap() {
        let turn = |bytes: usize| Message {
            id: RecordId::MIN,
            seq: 0,
            role: Role::User,
            sender: None,
            // Zeros that are never written take no memory.
            text: String::from_utf8(vec![0; bytes]).unwrap(),
            attrs: Attrs::new(),
            tokens: 0,
            at: clock::from_micros(0),
        };
        messages(&[turn(limits::MESSAGE_BYTES_MAX)]).unwrap();
        let over = messages(&[turn(limits::MESSAGE_BYTES_MAX + 1)]).unwrap_err();
        assert_eq!(
            over.to_string(),
            "268435457 bytes of a message; at most 268435456 are allowed"
        );
    }
}

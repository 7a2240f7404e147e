//! Validation of requests to a store, before the database is touched.

use crate::{Change, Filter, PurgeTarget, Receipt, SearchQuery, StoreError, VectorBatch};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Message, ProjectName, Record, RecordId, Session, limits};
use serde_json::Value;
use std::io;

/// Checks a list of changes for `project`.
pub(crate) fn changes(project: &ProjectName, changes: &[Change]) -> Result<(), StoreError> {
    at_most("changes in one write", changes.len(), limits::CHANGES_MAX)?;
    for change in changes {
        match change {
            Change::Put {
                record: new_record, ..
            } => {
                record(project, new_record)?;
                if new_record.retired_at.is_none() && new_record.replaced_by.is_some() {
                    return invalid(format!(
                        "record {} has a successor but is not retired",
                        new_record.id
                    ));
                }
            }
            Change::Revise {
                record: new_record, ..
            } => {
                record(project, new_record)?;
                if new_record.retired_at.is_some() || new_record.replaced_by.is_some() {
                    return invalid(format!(
                        "the successor {} is already retired",
                        new_record.id
                    ));
                }
            }
            Change::Retire { by, .. }
            | Change::Restore { by, .. }
            | Change::ResolveConflict { by, .. }
            | Change::ReopenConflict { by, .. }
            | Change::Mark { by, .. }
            | Change::ToggleBatch { by, .. } => name("source", by)?,
            Change::BeginBatch(batch) => {
                name("source", &batch.by)?;
                name("source of the import", &batch.source)?;
            }
            Change::ImportSession(imported) => {
                if imported.project != *project {
                    return invalid(format!(
                        "session `{}` belongs to project `{}`, not `{project}`",
                        imported.id, imported.project
                    ));
                }
                session(imported)?;
            }
            Change::ImportValidityGap { id, gap } if gap.restored_at < gap.retired_at => {
                return invalid(format!("record {id} was restored before it was retired"));
            }
            Change::StoreReceipt(stored) => receipt(stored)?,
            Change::ImportValidityGap { .. } => {}
            Change::ImportMessage { message, .. } => {
                messages(std::slice::from_ref(message.as_ref()))?;
            }
        }
    }
    Ok(())
}

/// Checks a filter.
pub(crate) fn filter(filter: &Filter) -> Result<(), StoreError> {
    limit("find", filter.limit)?;
    ids(&filter.ids)
}

/// Checks the limits of a search and of its filters by key.
pub(crate) fn search(search: &SearchQuery) -> Result<(), StoreError> {
    limit("hits", search.limit_per_arm)?;
    at_most(
        "keys of a search",
        search.key_filters.len(),
        limits::RECALL_KEYS_MAX,
    )?;
    search.key_filters.iter().try_for_each(filter)
}

/// Checks the requested number of results.
pub(crate) fn limit(what: &str, limit: usize) -> Result<(), StoreError> {
    at_most(&format!("results of `{what}`"), limit, limits::FIND_MAX)
}

/// Checks the number of requested ids.
pub(crate) fn ids(ids: &[RecordId]) -> Result<(), StoreError> {
    at_most("ids in one query", ids.len(), limits::CHANGES_MAX)
}

/// Checks the requested number of events.
pub(crate) fn events(limit: usize) -> Result<(), StoreError> {
    at_most("events", limit, limits::EVENTS_MAX)
}

/// Checks the name of an embedding model.
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

/// Checks vectors to store.
pub(crate) fn vectors(vectors: &VectorBatch) -> Result<(), StoreError> {
    model(&vectors.model)?;
    at_most(
        "vectors in one write",
        vectors.rows.len(),
        limits::VECTORS_PER_WRITE_MAX,
    )?;
    for (_, numbers) in &vectors.rows {
        let dims = numbers.as_ref().map_or(0, Vec::len);
        at_most("numbers of a vector", dims, limits::EMBEDDING_DIMS_MAX)?;
    }
    Ok(())
}

/// Checks the target of a purge.
pub(crate) fn purge_target(selection: &PurgeTarget) -> Result<(), StoreError> {
    match selection {
        PurgeTarget::Records(ids) => {
            at_most("records in one purge", ids.len(), limits::CHANGES_MAX)
        }
        PurgeTarget::Containing(text) if text.trim().is_empty() => {
            invalid("an empty text is in every record".to_owned())
        }
        PurgeTarget::Containing(text) => at_most(
            "bytes of a text to look for",
            text.len(),
            limits::PURGE_TEXT_BYTES_MAX,
        ),
        PurgeTarget::Session(session) => name("session", session),
        PurgeTarget::Project => Ok(()),
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
    let mut size = ByteCount(0);
    serde_json::to_writer(&mut size, &receipt.body).map_err(|error| not_json(&error))?;
    at_most("bytes of a receipt", size.0, limits::RECEIPT_BYTES_MAX)
}

/// Serialises the body of a receipt for storage.
pub(crate) fn receipt_json(receipt: &Receipt) -> Result<String, StoreError> {
    serde_json::to_string(&receipt.body).map_err(|error| not_json(&error))
}

/// Counts the bytes that are written to it.
struct ByteCount(usize);

impl io::Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn not_json(error: &serde_json::Error) -> StoreError {
    StoreError::Invalid(format!("attributes are not JSON: {error}"))
}

/// Checks a session.
pub(crate) fn session(session: &Session) -> Result<(), StoreError> {
    name("session", &session.id)?;
    optional_name("agent", session.agent.as_deref())?;
    optional_name("task", session.task.as_deref())
}

/// Checks messages to append.
pub(crate) fn messages(messages: &[Message]) -> Result<(), StoreError> {
    at_most("messages in one write", messages.len(), limits::CHANGES_MAX)?;
    for message in messages {
        optional_name("sender", message.sender.as_deref())?;
        let size = message.text.len();
        at_most("bytes of a message", size, limits::MESSAGE_BYTES_MAX)?;
    }
    Ok(())
}

/// Serialises attributes for storage; `None` for an empty object.
pub(crate) fn attrs_json(attrs: &Attrs) -> Result<Option<String>, StoreError> {
    if attrs.is_empty() {
        return Ok(None);
    }
    let json = serde_json::to_string(attrs).map_err(|error| not_json(&error))?;
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
    identity_attribute("category", &record.attrs)?;
    identity_attribute("state", &record.attrs)
}

/// Checks an attribute that is part of identities and indexes: it must be a valid name or absent.
fn identity_attribute(what: &str, attrs: &Attrs) -> Result<(), StoreError> {
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
    fn oversized_message_is_rejected() {
        let turn = |bytes: usize| Message {
            id: RecordId::MIN,
            seq: 0,
            role: Role::User,
            sender: None,
            // Zeros that are never written use no physical memory.
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

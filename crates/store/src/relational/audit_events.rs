//! Audit events.

use super::row_codec::{self, micros};
use crate::sql::failure::Failure;
use crate::sql::{Connection, Row};
use heirloom_model::{Action, Event, ProjectName, RecordId, Timestamp, clock};
use rusqlite::params;

/// Columns of an event in the order in which [`event`] reads them.
pub(crate) const COLUMNS: &str = "at, action, by, record, other, batch, detail";

/// Event to insert.
pub(crate) struct NewEvent<'a> {
    /// Time of the event.
    pub(crate) at: Timestamp,
    /// Action that took place.
    pub(crate) action: Action,
    /// Author of the action.
    pub(crate) by: &'a str,
    /// Record concerned.
    pub(crate) record: Option<RecordId>,
    /// The other record, such as a successor.
    pub(crate) other: Option<RecordId>,
    /// Import batch concerned.
    pub(crate) batch: Option<RecordId>,
    /// Further details.
    pub(crate) detail: Option<&'a str>,
}

impl<'a> NewEvent<'a> {
    /// Creates an event without a subject.
    pub(crate) fn of(at: Timestamp, action: Action, by: &'a str) -> Self {
        Self {
            at,
            action,
            by,
            record: None,
            other: None,
            batch: None,
            detail: None,
        }
    }
}

/// Inserts an event of the project with this number.
pub(crate) fn insert(
    connection: Connection<'_>,
    project: Option<i64>,
    event: &NewEvent<'_>,
) -> Result<(), Failure> {
    let sql = "INSERT INTO events (project, at, action, by, record, other, batch, detail) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    connection.prepare_cached(sql)?.write(params![
        project,
        micros(event.at),
        event.action.as_str(),
        event.by,
        event.record.as_ref().map(RecordId::as_bytes),
        event.other.as_ref().map(RecordId::as_bytes),
        event.batch.as_ref().map(RecordId::as_bytes),
        event.detail,
    ])?;
    Ok(())
}

/// Lists the events of a record or of the whole project, newest first.
pub(crate) fn list(
    connection: Connection<'_>,
    project: &ProjectName,
    record: Option<RecordId>,
    limit: usize,
) -> Result<Vec<Event>, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let (index, of_record) = match record {
        Some(_) => ("events_by_record", " AND record = ?2"),
        None => ("events_by_time", ""),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM events INDEXED BY {index} \
         WHERE project = ?1{of_record} ORDER BY at DESC, rowid DESC LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let record = record.as_ref().map(RecordId::as_bytes);
    let mut rows = statement.query(params![number, record, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(event(row)?);
    }
    Ok(found)
}

/// Reads an event from a row of [`COLUMNS`].
pub(crate) fn event(row: Row<'_>) -> Result<Event, Failure> {
    let action = row.get_ref(1)?.as_str().unwrap_or_default();
    let action = action
        .parse()
        .map_err(|_| Failure::Damaged(format!("an event has the unknown action `{action}`")))?;
    let id = |column| -> Result<Option<RecordId>, Failure> {
        let bytes: Option<[u8; 16]> = row.get(column)?;
        Ok(bytes.map(RecordId::from_bytes))
    };
    Ok(Event {
        at: clock::from_micros(row.get(0)?),
        action,
        by: row.get(2)?,
        record: id(3)?,
        other: id(4)?,
        batch: id(5)?,
        detail: row.get(6)?,
    })
}

//! Sessions and their messages.

use super::index::{self, IndexEntry};
use super::row_codec::{self, MESSAGE_COLUMNS, SESSION_COLUMNS, message, micros};
use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch};
use crate::{StoreError, validation};
use heirloom_model::{Message, ProjectName, RecordId, Session};
use rusqlite::{ToSql, params};

/// Creates the session or replaces its metadata.
pub(crate) fn put(connection: Connection<'_>, session: &Session) -> Result<(), Failure> {
    let (project, _) = row_codec::project_or_new(connection, &session.project, session.started_at)?;
    let sql = "INSERT INTO sessions (project, id, agent, task, started_at, ended_at, attrs) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (project, id) DO UPDATE SET agent = excluded.agent, task = excluded.task, \
         started_at = excluded.started_at, ended_at = excluded.ended_at, attrs = excluded.attrs, \
         retired_at = NULL";
    connection.prepare_cached(sql)?.write(params![
        project,
        session.id,
        session.agent,
        session.task,
        micros(session.started_at),
        session.ended_at.map(micros),
        validation::attrs_json(&session.attrs)?,
    ])?;
    Ok(())
}

/// Reads the session `id`.
pub(crate) fn get(
    connection: Connection<'_>,
    project: &ProjectName,
    id: &str,
) -> Result<Session, Failure> {
    let number = row_codec::project(connection, project)?;
    let sql = format!(
        "SELECT {SESSION_COLUMNS} FROM sessions \
         WHERE project = ?1 AND id = ?2 AND retired_at IS NULL"
    );
    let found = select(connection, project, &sql, params![number, id])?.pop();
    found.ok_or_else(|| missing(project, id))
}

/// Lists the most recently started sessions, newest first.
pub(crate) fn list(
    connection: Connection<'_>,
    project: &ProjectName,
    task: Option<&str>,
    limit: usize,
) -> Result<Vec<Session>, Failure> {
    let number = row_codec::project(connection, project)?;
    let of_task = if task.is_some() { " AND task = ?2" } else { "" };
    let sql = format!(
        "SELECT {SESSION_COLUMNS} FROM sessions \
         WHERE project = ?1{of_task} \
         AND retired_at IS NULL \
         ORDER BY started_at DESC, id DESC LIMIT ?3"
    );
    let values = params![number, task, limit];
    select(connection, project, &sql, values)
}

/// Appends messages and returns the position of the first.
pub(crate) fn append(
    connection: Connection<'_>,
    project: &ProjectName,
    session: &str,
    messages: &[Message],
) -> Result<u64, Failure> {
    let number = project_of_session(connection, project, session)?;
    if connection.is_postgres() {
        refuse_existing(connection, number, messages)?;
    }
    let first = next_position(connection, number, session)?;
    for (seq, message) in (first..).zip(messages) {
        insert(connection, number, session, seq, message, None)?;
    }
    Ok(first)
}

/// Statement that reads the id of an existing message among these.
const EXISTING: &str = "SELECT id FROM messages WHERE project = ?1 \
     AND id IN (SELECT unhex(value) FROM json_each(?2)) LIMIT 1";
/// Statement that reads the position after the last message of a session.
const NEXT_POSITION: &str =
    "SELECT ifnull(max(seq) + 1, 0) FROM messages WHERE project = ?1 AND session = ?2";
/// Statement that finds a session.
const PROJECT_OF_SESSION: &str =
    "SELECT project FROM sessions WHERE project = ?1 AND id = ?2 AND retired_at IS NULL";

/// Adds the queries of [`append`] to a batch.
pub(crate) fn prefetch_append(
    batch: &mut QueryBatch<'_>,
    project: i64,
    session: &str,
    messages: &[Message],
) -> Result<(), Failure> {
    batch.add(PROJECT_OF_SESSION, params![Some(project), session])?;
    let ids = sorted_ids(messages);
    batch.add(EXISTING, params![project, row_codec::id_list(&ids)])?;
    batch.add(NEXT_POSITION, params![project, session])?;
    Ok(())
}

fn sorted_ids(messages: &[Message]) -> Vec<RecordId> {
    let mut ids: Vec<RecordId> = messages.iter().map(|message| message.id).collect();
    ids.sort_unstable();
    ids
}

/// Refuses messages whose ids exist in the project, or are given twice.
fn refuse_existing(
    connection: Connection<'_>,
    project: i64,
    messages: &[Message],
) -> Result<(), Failure> {
    let ids = sorted_ids(messages);
    if let Some([twice, _]) = ids.array_windows().find(|[a, b]| a == b) {
        return Err(existing(*twice));
    }
    let mut statement = connection.prepare_cached(EXISTING)?;
    let found: Vec<[u8; 16]> =
        statement.query_column(params![project, row_codec::id_list(&ids)])?;
    found
        .first()
        .map_or(Ok(()), |id| Err(existing(RecordId::from_bytes(*id))))
}

/// Creates the error for a message whose id exists.
fn existing(id: RecordId) -> Failure {
    Failure::Store(StoreError::Stale {
        id,
        problem: "exists already".to_owned(),
    })
}

/// Returns the position after the last message of a session, hidden messages of reverted imports included.
pub(crate) fn next_position(
    connection: Connection<'_>,
    project: i64,
    session: &str,
) -> Result<u64, Failure> {
    let mut statement = connection.prepare_cached(NEXT_POSITION)?;
    Ok(statement.query_row(params![project, session], |row| row.get(0))?)
}

/// Inserts a message.
pub(crate) fn insert(
    connection: Connection<'_>,
    project: i64,
    session: &str,
    seq: u64,
    message: &Message,
    batch: Option<RecordId>,
) -> Result<(), Failure> {
    let ordinal = index::add(
        connection,
        LaneKey::archive(project),
        message.id,
        &IndexEntry::from_message(message),
    )?;
    let sql = "INSERT INTO messages \
         (project, session, seq, id, role, sender, text, attrs, tokens, at, batch, ordinal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let written = connection.prepare_cached(sql)?.write(params![
        project,
        session,
        seq,
        message.id.as_bytes(),
        message.role.as_str(),
        message.sender,
        message.text,
        validation::attrs_json(&message.attrs)?,
        message.tokens,
        micros(message.at),
        batch.as_ref().map(RecordId::as_bytes),
        ordinal,
    ]);
    match written {
        Err(error) if error.is_duplicate() => Err(existing(message.id)),
        other => Ok(other?),
    }
}

/// Reads the messages of a session from position `from` on, in order.
pub(crate) fn messages(
    connection: Connection<'_>,
    project: &ProjectName,
    session: &str,
    from: u64,
    limit: usize,
) -> Result<Vec<Message>, Failure> {
    let number = project_of_session(connection, project, session)?;
    let sql = format!(
        "SELECT {MESSAGE_COLUMNS} FROM messages \
         WHERE project = ?1 AND session = ?2 AND seq >= ?3 AND retired_at IS NULL \
         ORDER BY seq LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    // Larger positions cannot be stored, so no message has one.
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![number, session, from, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(message(row)?);
    }
    Ok(found)
}

/// Reads the messages with these ids and their sessions, in order of id.
pub(crate) fn turns(
    connection: Connection<'_>,
    project: &ProjectName,
    ids: &[RecordId],
) -> Result<Vec<(String, Message)>, Failure> {
    let number = row_codec::project(connection, project)?;
    let sql = format!(
        "SELECT {MESSAGE_COLUMNS}, session FROM messages \
         WHERE project = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2)) AND retired_at IS NULL ORDER BY id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![number, row_codec::id_list(ids)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(8)?, message(row)?));
    }
    Ok(found)
}

/// Returns the number of the project if the session exists in it.
pub(crate) fn project_of_session(
    connection: Connection<'_>,
    project: &ProjectName,
    session: &str,
) -> Result<i64, Failure> {
    let number = row_codec::project(connection, project)?;
    let mut statement = connection.prepare_cached(PROJECT_OF_SESSION)?;
    let values = params![number, session];
    let found = statement.query_row(values, |row| row.get(0)).optional()?;
    found.ok_or_else(|| missing(project, session))
}

fn missing(project: &ProjectName, id: &str) -> Failure {
    Failure::Store(StoreError::NotFound {
        what: "session",
        id: id.to_owned(),
        project: project.to_string(),
    })
}

fn select(
    connection: Connection<'_>,
    project: &ProjectName,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Session>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(row_codec::session(project, row)?);
    }
    Ok(found)
}

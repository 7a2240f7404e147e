//! Conversion of rows to records, sessions and messages, and of values to their stored form.

use crate::lane::{Lane, LaneKey};
use crate::sql::TailLength;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch, Row};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, Kind, Message, ProjectName, Record, RecordId, Role, Scope, Session, Timestamp,
    clock,
};
use rusqlite::{ToSql, params};

/// Columns of a record in the order in which [`record`] reads them.
pub(crate) const COLUMNS: &str = "id, kind, key, text, attrs, plan, \"group\", session, task, \
     agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, true_to, \
     retired_at, replaced_by, expires_at";

/// Columns of a message in the order in which [`message`] reads them.
pub(crate) const MESSAGE_COLUMNS: &str = "id, seq, role, sender, text, attrs, tokens, at";

/// Columns of a session in the order in which [`session`] reads them.
pub(crate) const SESSION_COLUMNS: &str = "id, agent, task, started_at, ended_at, attrs";

/// Converts a time to its stored form, microseconds.
pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// Formats ids as a JSON array for SQL: `["0189…", …]`.
pub(crate) fn id_list(ids: &[RecordId]) -> String {
    let mut list = String::with_capacity(ids.len() * 36 + 2);
    for id in ids {
        list.push(if list.is_empty() { '[' } else { ',' });
        let hex = id.to_string().replace('-', "");
        list.push_str(&format!("\"{hex}\""));
    }
    if list.is_empty() {
        list.push('[');
    }
    list.push(']');
    list
}

/// Reads a record from a row of [`COLUMNS`].
pub(crate) fn record(project: &ProjectName, row: Row<'_>) -> Result<Record, Failure> {
    let id = RecordId::from_bytes(row.get(0)?);
    let damaged = |problem: &str| Failure::Damaged(format!("record {id}: {problem}"));
    let kind: Kind = (row.get_ref(1)?.as_str().ok())
        .and_then(|kind| kind.parse().ok())
        .ok_or_else(|| damaged("unknown kind"))?;
    let confidence = Confidence::new(row.get(13)?).ok_or_else(|| damaged("bad confidence"))?;
    Ok(Record {
        project: project.clone(),
        id,
        kind,
        key: row.get(2)?,
        text: row.get(3)?,
        attrs: attrs(row, 4).map_err(|problem| damaged(&problem))?,
        scope: Scope {
            plan: row.get(5)?,
            group: row.get(6)?,
            session: row.get(7)?,
            task: row.get(8)?,
            agent: row.get(9)?,
            phase: row.get(10)?,
            iteration: row.get(11)?,
        },
        source: row.get(12)?,
        confidence,
        tokens: row.get(14)?,
        recorded_at: clock::from_micros(row.get(15)?),
        true_from: time(row, 16)?,
        true_to: time(row, 17)?,
        retired_at: time(row, 18)?,
        replaced_by: row.get::<Option<_>>(19)?.map(RecordId::from_bytes),
        expires_at: time(row, 20)?,
    })
}

/// Reads the JSON object in a column; NULL is an empty object.
pub(crate) fn attrs(row: Row<'_>, column: usize) -> Result<Attrs, String> {
    let json = row.get_ref(column).map_err(|error| error.to_string())?;
    let json = json.as_str_or_null().map_err(|error| error.to_string())?;
    json.map_or(Ok(Attrs::new()), |json| {
        serde_json::from_str(json).map_err(|error| format!("bad attributes: {error}"))
    })
}

/// Reads the time in a nullable column.
pub(crate) fn time(row: Row<'_>, column: usize) -> Result<Option<Timestamp>, Failure> {
    let micros: Option<i64> = row.get(column)?;
    Ok(micros.map(clock::from_micros))
}

/// Reads a session from a row of [`SESSION_COLUMNS`].
pub(crate) fn session(project: &ProjectName, row: Row<'_>) -> Result<Session, Failure> {
    let id: String = row.get(0)?;
    let attrs =
        attrs(row, 5).map_err(|problem| Failure::Damaged(format!("session {id}: {problem}")))?;
    Ok(Session {
        project: project.clone(),
        id,
        agent: row.get(1)?,
        task: row.get(2)?,
        started_at: clock::from_micros(row.get(3)?),
        ended_at: time(row, 4)?,
        attrs,
    })
}

/// Reads a message from a row of [`MESSAGE_COLUMNS`].
pub(crate) fn message(row: Row<'_>) -> Result<Message, Failure> {
    let id = RecordId::from_bytes(row.get(0)?);
    let damaged = |problem: String| Failure::Damaged(format!("message {id}: {problem}"));
    let role = row.get_ref(2)?.as_str().unwrap_or_default();
    let role: Role = role
        .parse()
        .map_err(|_| damaged(format!("unknown role `{role}`")))?;
    let at: Timestamp = clock::from_micros(row.get(7)?);
    Ok(Message {
        id,
        seq: row.get(1)?,
        role,
        sender: row.get(3)?,
        text: row.get(4)?,
        attrs: attrs(row, 5).map_err(damaged)?,
        tokens: row.get(6)?,
        at,
    })
}

/// Runs a query for [`COLUMNS`] and returns the records in its order.
pub(crate) fn select(
    connection: Connection<'_>,
    project: &ProjectName,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Record>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(record(project, row)?);
    }
    Ok(found)
}

/// Statement that reads the number of a project.
const PROJECT: &str = "SELECT id FROM projects WHERE name = ?1";
/// Statement that locks a project in PostgreSQL and reads the totals of its index.
const LOCK: &str = "SELECT lane, texts, merged FROM index_totals WHERE project = ?1 \
     ORDER BY lane FOR UPDATE";

/// Adds the query of [`project`] to a batch.
pub(crate) fn prefetch_project(
    batch: &mut QueryBatch<'_>,
    name: &ProjectName,
) -> Result<(), Failure> {
    Ok(batch.add(PROJECT, [name.as_str()])?)
}

/// Adds the query of [`lock`] to a batch.
pub(crate) fn prefetch_lock(batch: &mut QueryBatch<'_>, project: i64) -> Result<(), Failure> {
    Ok(batch.add(LOCK, [project])?)
}

/// Returns the number of a project if it exists.
pub(crate) fn project(
    connection: Connection<'_>,
    name: &ProjectName,
) -> Result<Option<i64>, Failure> {
    if let Connection::Postgres(session) = connection
        && let Some(number) = session.known_project(name)
    {
        return Ok(number);
    }
    let mut statement = connection.prepare_cached(PROJECT)?;
    let found = statement.query_row([name.as_str()], |row| row.get(0));
    let found = found.optional()?;
    if let (Connection::Postgres(session), Some(number)) = (connection, found) {
        session.remember_project(name, number);
    }
    Ok(found)
}

/// Locks a project in PostgreSQL, so that no other writer of it reads or writes until the end of the transaction. Returns
/// false if the project does not exist.
pub(crate) fn lock(connection: Connection<'_>, project: i64) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached(LOCK)?;
    let found: Vec<(LaneKey, TailLength)> = statement.query_map([project], |row| {
        let lane = Lane::of_number(row.get(0)?);
        let (texts, merged) = (row.get(1)?, row.get(2)?);
        Ok((LaneKey { project, lane }, TailLength { texts, merged }))
    })?;
    let exists = !found.is_empty();
    if let Some(locked) = connection.locked_index().filter(|_| exists) {
        locked.borrow_mut().lock(found);
    }
    Ok(exists)
}

/// Creates the rows that writers of a project lock, and locks them.
fn create_lock(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    let sql = "INSERT INTO index_totals VALUES (?1, 0, 0, 0, 0, 0, 0), (?1, 1, 0, 0, 0, 0, 0) \
         ON CONFLICT (project, lane) DO NOTHING";
    connection.prepare_cached(sql)?.write([project])?;
    if let Some(locked) = connection.locked_index() {
        let empty = TailLength {
            texts: 0,
            merged: 0,
        };
        let lanes = LaneKey::both(project).map(|lane| (lane, empty));
        locked.borrow_mut().lock(lanes);
    }
    Ok(())
}

/// Returns the number of a project, and true if it did not exist and was created at `now`.
pub(crate) fn project_or_new(
    connection: Connection<'_>,
    name: &ProjectName,
    now: Timestamp,
) -> Result<(i64, bool), Failure> {
    if let Some(found) = project(connection, name)? {
        return Ok((found, false));
    }
    let sql = "INSERT INTO projects (name, created_at) VALUES (?1, ?2) \
         ON CONFLICT (name) DO NOTHING RETURNING id";
    let mut statement = connection.prepare_cached(sql)?;
    let created = statement.query_row(params![name.as_str(), micros(now)], |row| row.get(0));
    if let Some(number) = created.optional()? {
        if let Connection::Postgres(session) = connection {
            session.set_project(name, Some(number));
            create_lock(connection, number)?;
        }
        return Ok((number, true));
    }
    // Another writer has created it meanwhile.
    let number = connection.query_row(PROJECT, [name.as_str()], |row| row.get(0))?;
    if let Connection::Postgres(session) = connection {
        session.set_project(name, Some(number));
        lock(connection, number)?;
    }
    Ok((number, false))
}

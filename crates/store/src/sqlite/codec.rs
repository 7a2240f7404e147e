//! Records as rows.

use super::failure::Failure;
use super::index::{self, Entry};
use crate::caps;
use heirloom_model::record::Attrs;
use heirloom_model::{Confidence, Kind, ProjectName, Record, RecordId, Scope, Timestamp, clock};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

/// The columns of a record, in the order in which [`record`] reads them.
pub(super) const COLUMNS: &str = "id, kind, key, text, attrs, plan, \"group\", session, task, \
     agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, true_to, \
     retired_at, replaced_by, expires_at";

/// A time as it is stored.
pub(super) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// Ids as one value that SQL takes apart: `["0189…", …]`.
pub(super) fn id_list(ids: &[RecordId]) -> String {
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

/// The record in a row of [`COLUMNS`].
pub(super) fn record(project: &ProjectName, row: &Row<'_>) -> Result<Record, Failure> {
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
        replaced_by: row.get::<_, Option<_>>(19)?.map(RecordId::from_bytes),
        expires_at: time(row, 20)?,
    })
}

/// The JSON object in a column; none is an empty one.
pub(super) fn attrs(row: &Row<'_>, column: usize) -> Result<Attrs, String> {
    let json = row.get_ref(column).map_err(|error| error.to_string())?;
    let json = json.as_str_or_null().map_err(|error| error.to_string())?;
    json.map_or(Ok(Attrs::new()), |json| {
        serde_json::from_str(json).map_err(|error| format!("bad attributes: {error}"))
    })
}

/// The time in a column that may be empty.
pub(super) fn time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>, Failure> {
    let micros: Option<i64> = row.get(column)?;
    Ok(micros.map(clock::from_micros))
}

/// Every record that a query for [`COLUMNS`] finds, in its order.
pub(super) fn select(
    connection: &Connection,
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

/// Writes a record as a new row.
pub(super) fn insert(
    connection: &Connection,
    project: i64,
    record: &Record,
    batch: Option<RecordId>,
) -> Result<(), Failure> {
    let ordinal = index::add(
        connection,
        project,
        record.id,
        false,
        &Entry::of(&record.text),
    )?;
    if record.retired_at.is_some() {
        index::mark(connection, project, ordinal, true)?;
    }
    let sql = "INSERT INTO records (project, id, kind, key, text, attrs, plan, \"group\", session, \
         task, agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, \
         true_to, retired_at, replaced_by, expires_at, batch, ordinal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23, ?24)";
    let scope = &record.scope;
    connection.prepare_cached(sql)?.execute(params![
        project,
        record.id.as_bytes(),
        record.kind.as_str(),
        record.key,
        record.text,
        caps::attrs_json(&record.attrs)?,
        scope.plan,
        scope.group,
        scope.session,
        scope.task,
        scope.agent,
        scope.phase,
        scope.iteration,
        record.source,
        record.confidence.get(),
        record.tokens,
        micros(record.recorded_at),
        record.true_from.map(micros),
        record.true_to.map(micros),
        record.retired_at.map(micros),
        record.replaced_by.as_ref().map(RecordId::as_bytes),
        record.expires_at.map(micros),
        batch.as_ref().map(RecordId::as_bytes),
        ordinal,
    ])?;
    Ok(())
}

/// The number of a project, if anything was ever written to it.
pub(super) fn project(connection: &Connection, name: &ProjectName) -> Result<Option<i64>, Failure> {
    let sql = "SELECT id FROM projects WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement
        .query_row([name.as_str()], |row| row.get(0))
        .optional()?)
}

/// The number of a project, which comes into being at `now` if it has none.
pub(super) fn project_or_new(
    connection: &Connection,
    name: &ProjectName,
    now: Timestamp,
) -> Result<i64, Failure> {
    if let Some(found) = project(connection, name)? {
        return Ok(found);
    }
    let sql = "INSERT INTO projects (name, created_at) VALUES (?1, ?2)";
    connection.execute(sql, params![name.as_str(), micros(now)])?;
    Ok(connection.last_insert_rowid())
}

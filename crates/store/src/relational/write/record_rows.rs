//! Statements that write rows of records.

use super::known_rows::KnownRows;
use crate::lane::LaneKey;
use crate::relational::index::{self, IndexEntry};
use crate::relational::row_codec::micros;
use crate::sql::failure::Failure;
use crate::sql::{Connection, Statement};
use crate::validation;
use heirloom_model::{Record, RecordId};
use rusqlite::{ToSql, params};
use std::cell::RefCell;

/// Inserts a record with its index entry and returns its ordinal.
pub(super) fn insert(
    connection: Connection<'_>,
    project: i64,
    record: &Record,
    batch: Option<RecordId>,
) -> Result<u32, Failure> {
    let ordinal = index::add(
        connection,
        LaneKey::memory(project),
        record.id,
        &IndexEntry::from_text(&record.text),
    )?;
    let sql = "INSERT INTO records (project, id, kind, key, text, attrs, plan, \"group\", session, \
         task, agent, phase, iteration, source, confidence, tokens, recorded_at, true_from, \
         true_to, retired_at, replaced_by, expires_at, batch, ordinal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23, ?24)";
    let scope = &record.scope;
    connection.prepare_cached(sql)?.write(params![
        project,
        record.id.as_bytes(),
        record.kind.as_str(),
        record.key,
        record.text,
        validation::attrs_json(&record.attrs)?,
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
    Ok(ordinal)
}

/// Executes a statement that changes a record and returns its ordinal. It waits for the next round trip if the ordinal is
/// known.
pub(super) fn write_record(
    known: &RefCell<KnownRows>,
    statement: &mut Statement<'_>,
    id: RecordId,
    values: &[&dyn ToSql],
) -> Result<Vec<Option<u32>>, Failure> {
    if let Some(ordinal) = known.borrow().ordinal(id) {
        statement.write(values)?;
        return Ok(vec![ordinal]);
    }
    Ok(statement.query_map(values, |row| row.get(0))?)
}

//! Ids of ordinals.

use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use crate::sql::{Connection, Row};
use heirloom_model::RecordId;
use rusqlite::params;

/// Reads the id behind an ordinal from the database.
pub(super) fn read_id(
    connection: Connection<'_>,
    lane: LaneKey,
    ordinal: u32,
) -> Result<RecordId, Failure> {
    let sql = "SELECT id FROM ordinals WHERE project = ?1 AND lane = ?2 AND ordinal = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![lane.project, lane.lane, ordinal], id_of)?)
}

/// Returns the id in the first column of a row.
pub(super) fn id_of(row: Row<'_>) -> rusqlite::Result<RecordId> {
    Ok(RecordId::from_bytes(row.get(0)?))
}

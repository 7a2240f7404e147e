//! Totals and versions of a project's index.

use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch};
use heirloom_search::index::bm25::Totals;

/// Totals and versions of a project's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexState {
    pub(super) totals: Totals,
    /// Number of texts that are merged into blocks.
    pub(super) merged: u32,
    /// Number of rebuilds.
    pub(super) generation: i64,
    /// SQLite's schema version; it also changes when the content of the database is replaced.
    schema: i64,
}

impl IndexState {
    /// Returns the number of texts.
    pub(super) fn texts(&self) -> u32 {
        u32::try_from(self.totals.texts).unwrap_or(u32::MAX)
    }
}

/// Generation and schema version: while they stay the same, merged data is append-only.
pub(super) type Epoch = (i64, i64);

impl IndexState {
    /// Returns the version of merged data.
    pub(super) fn epoch(&self) -> Epoch {
        (self.generation, self.schema)
    }

    /// Returns the version of data that a merge changes.
    pub(super) fn merge_version(&self) -> (Epoch, u32) {
        (self.epoch(), self.merged)
    }
}

/// Statement that reads the state of a project's index.
const STATE: &str = "SELECT texts, len, head_len, merged, generation, \
     (SELECT schema_version FROM pragma_schema_version) FROM index_totals WHERE project = ?1 AND lane = ?2";

/// Adds the query of [`read_state`] to a batch.
pub(super) fn prefetch_state(batch: &mut QueryBatch<'_>, lane: LaneKey) -> Result<(), Failure> {
    Ok(batch.add(STATE, lane.values())?)
}

/// Reads the state of a project's index; `None` if it has none.
pub(super) fn read_state(
    connection: Connection<'_>,
    lane: LaneKey,
) -> Result<Option<IndexState>, Failure> {
    let mut statement = connection.prepare_cached(STATE)?;
    let found = statement.query_row(lane.values(), |row| {
        Ok(IndexState {
            totals: Totals {
                texts: row.get(0)?,
                len: row.get(1)?,
                head_len: row.get(2)?,
            },
            merged: row.get(3)?,
            generation: row.get(4)?,
            schema: row.get(5)?,
        })
    });
    Ok(found.optional()?)
}

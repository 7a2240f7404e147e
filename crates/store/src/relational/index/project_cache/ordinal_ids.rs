//! Cached ordinal → record or message id.

use super::super::ordinals::id_of;
use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::sql::{Connection, QueryBatch};
use heirloom_model::RecordId;
use rusqlite::params;
use std::collections::HashMap;
use std::sync::Arc;

/// Ids of a lane in order of their ordinals; the newest may be missing.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct OrdinalTable(Vec<RecordId>);

/// Cached ids of the merged texts.
#[derive(Debug, Default)]
pub(super) struct CachedOrdinals(Arc<OrdinalTable>);

impl CacheEntry for CachedOrdinals {
    type Version = Epoch;

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.ordinals
    }

    fn bytes(&self) -> usize {
        size_of_val(self.0.0.as_slice())
    }
}

/// Returns the cached ids, at least those before the tail; empty without a cache.
pub(in super::super) fn read_ordinals(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<Arc<OrdinalTable>, Failure> {
    let found = cache.with(lane, index.epoch(), |cached: &mut CachedOrdinals| {
        let merged = index.merged as usize;
        if cached.0.0.len() < merged {
            // Copies the ids if another query uses them.
            Arc::make_mut(&mut cached.0).extend(connection, lane, merged)?;
        }
        Ok(Arc::clone(&cached.0))
    })?;
    Ok(found.unwrap_or_default())
}

/// Statement that reads consecutive ids.
const ORDINALS: &str = "SELECT id FROM ordinals WHERE project = ?1 AND lane = ?2 AND ordinal >= ?3 \
     ORDER BY ordinal LIMIT ?4";

/// Adds the query of [`read_ordinals`] to a batch, unless they are cached.
pub(in super::super) fn prefetch_ordinals(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<(), Failure> {
    let known = cache.with(lane, index.epoch(), |cached: &mut CachedOrdinals| {
        Ok(cached.0.0.len())
    })?;
    match known {
        Some(known) if known < index.merged as usize => {
            let fresh = index.merged as usize - known;
            Ok(batch.add(ORDINALS, params![lane.project, lane.lane, known, fresh])?)
        }
        Some(_) | None => Ok(()),
    }
}

/// Reads the ids of these ordinals that are not in `known` from PostgreSQL, in one round trip. SQLite reads each when
/// it is needed.
pub(in super::super) fn read_ids(
    connection: Connection<'_>,
    lane: LaneKey,
    ordinals: &[u32],
    known: &OrdinalTable,
) -> Result<HashMap<u32, RecordId>, Failure> {
    let missing = ordinals
        .iter()
        .filter(|ordinal| known.get(**ordinal).is_none());
    let missing: Vec<String> = missing.map(u32::to_string).collect();
    if missing.is_empty() || !connection.is_postgres() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT id, ordinal FROM ordinals \
         WHERE project = ?1 AND lane = ?2 AND ordinal = ANY(CAST(CAST(?3 AS text) AS bigint[]))";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![
        lane.project,
        lane.lane,
        format!("{{{}}}", missing.join(","))
    ];
    let found = statement.query_map(values, |row| Ok((row.get(1)?, id_of(row)?)))?;
    Ok(found.into_iter().collect())
}

impl OrdinalTable {
    /// Returns the id of an ordinal if it is cached.
    pub(in super::super) fn get(&self, ordinal: u32) -> Option<RecordId> {
        self.0.get(ordinal as usize).copied()
    }

    fn extend(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        merged: usize,
    ) -> Result<(), Failure> {
        let mut statement = connection.prepare_cached(ORDINALS)?;
        let fresh = merged.saturating_sub(self.0.len());
        self.0.reserve_exact(fresh);
        let values = params![lane.project, lane.lane, self.0.len(), fresh];
        self.0.extend(statement.query_map(values, id_of)?);
        Ok(())
    }
}

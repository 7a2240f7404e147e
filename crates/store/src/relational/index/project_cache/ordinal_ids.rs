//! Cached ordinal → record or message id.

use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::sql::{Connection, QueryBatch, Row};
use heirloom_model::RecordId;
use rusqlite::params;
use std::collections::HashMap;
use std::sync::Arc;

/// Id behind an ordinal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct OrdinalEntry {
    pub(in super::super) id: RecordId,
    /// True for a turn of a conversation, false for a record.
    pub(in super::super) is_turn: bool,
}

impl OrdinalEntry {
    /// Reads the entry of an ordinal from the database.
    pub(in super::super) fn read(
        connection: Connection<'_>,
        project: i64,
        ordinal: u32,
    ) -> Result<Self, Failure> {
        let sql = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![project, ordinal], Self::of)?)
    }

    fn of(row: Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: RecordId::from_bytes(row.get(0)?),
            is_turn: row.get(1)?,
        })
    }
}

/// Entries of a project in order of their ordinals; the newest may be missing.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct OrdinalTable(Vec<OrdinalEntry>);

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

/// Returns the cached entries, at least those before the tail; empty without a cache.
pub(in super::super) fn read_ordinals(
    cache: &ProjectCache,
    connection: Connection<'_>,
    project: i64,
    index: &IndexState,
) -> Result<Arc<OrdinalTable>, Failure> {
    let found = cache.with(project, index.epoch(), |cached: &mut CachedOrdinals| {
        let merged = index.merged as usize;
        if cached.0.0.len() < merged {
            // Copies the entries if another query uses them.
            Arc::make_mut(&mut cached.0).extend(connection, project, merged)?;
        }
        Ok(Arc::clone(&cached.0))
    })?;
    Ok(found.unwrap_or_default())
}

/// Statement that reads consecutive entries.
const ORDINALS: &str = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal >= ?2 \
     ORDER BY ordinal LIMIT ?3";

/// Adds the query of [`read_ordinals`] to a batch, unless the entries are cached.
pub(in super::super) fn prefetch_ordinals(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    project: i64,
    index: &IndexState,
) -> Result<(), Failure> {
    let known = cache.with(project, index.epoch(), |cached: &mut CachedOrdinals| {
        Ok(cached.0.0.len())
    })?;
    match known {
        Some(known) if known < index.merged as usize => {
            let fresh = index.merged as usize - known;
            Ok(batch.add(ORDINALS, params![project, known, fresh])?)
        }
        Some(_) | None => Ok(()),
    }
}

/// Reads the entries of these ordinals that are not in `known` from PostgreSQL, in one round trip. SQLite reads each when
/// it is needed.
pub(in super::super) fn read_entries(
    connection: Connection<'_>,
    project: i64,
    ordinals: &[u32],
    known: &OrdinalTable,
) -> Result<HashMap<u32, OrdinalEntry>, Failure> {
    let missing = ordinals
        .iter()
        .filter(|ordinal| known.get(**ordinal).is_none());
    let missing: Vec<String> = missing.map(u32::to_string).collect();
    if missing.is_empty() || !connection.is_postgres() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT id, is_turn, ordinal FROM ordinals \
         WHERE project = ?1 AND ordinal = ANY(CAST(CAST(?2 AS text) AS bigint[]))";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![project, format!("{{{}}}", missing.join(","))];
    let found = statement.query_map(values, |row| Ok((row.get(2)?, OrdinalEntry::of(row)?)))?;
    Ok(found.into_iter().collect())
}

impl OrdinalTable {
    /// Returns the entry of an ordinal if it is cached.
    pub(in super::super) fn get(&self, ordinal: u32) -> Option<OrdinalEntry> {
        self.0.get(ordinal as usize).copied()
    }

    fn extend(
        &mut self,
        connection: Connection<'_>,
        project: i64,
        merged: usize,
    ) -> Result<(), Failure> {
        let mut statement = connection.prepare_cached(ORDINALS)?;
        let fresh = merged.saturating_sub(self.0.len());
        self.0.reserve_exact(fresh);
        let values = params![project, self.0.len(), fresh];
        for entry in statement.query_map(values, OrdinalEntry::of)? {
            self.0.push(entry);
        }
        Ok(())
    }
}

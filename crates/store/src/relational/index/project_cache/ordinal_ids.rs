//! Cached ordinal → record or message id.

use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::sql::{Connection, Row};
use heirloom_model::RecordId;
use rusqlite::params;
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
        let sql = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal >= ?2 \
             ORDER BY ordinal LIMIT ?3";
        let mut statement = connection.prepare_cached(sql)?;
        let fresh = merged.saturating_sub(self.0.len());
        self.0.reserve_exact(fresh);
        let values = params![project, self.0.len(), fresh];
        for entry in statement.query_map(values, OrdinalEntry::of)? {
            self.0.push(entry);
        }
        Ok(())
    }
}

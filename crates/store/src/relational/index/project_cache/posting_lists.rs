//! Cached posting lists of the stems that queries used.

use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::sql::{Connection, QueryBatch};
use rusqlite::params;
use std::collections::HashMap;
use std::sync::Arc;

/// Stored blocks of a stem, newest first.
pub(in super::super) type Blocks = Vec<Box<[u8]>>;

/// Cached blocks by stem. A merge rewrites the newest block of most stems.
#[derive(Debug, Default)]
pub(super) struct CachedPostings {
    stems: HashMap<i64, Arc<Blocks>>,
    bytes: usize,
}

impl CacheEntry for CachedPostings {
    type Version = (Epoch, u32);

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.postings
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Statement that reads the blocks of a stem.
const BLOCKS: &str =
    "SELECT data FROM postings WHERE project = ?1 AND lane = ?2 AND term = ?3 ORDER BY block DESC";

/// Adds the query of [`read_blocks`] to a batch, unless the blocks are cached.
pub(in super::super) fn prefetch_blocks(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
    key: i64,
) -> Result<(), Failure> {
    let version = index.merge_version();
    let is_known = cache.with(lane, version, |cached: &mut CachedPostings| {
        Ok(cached.stems.contains_key(&key))
    })?;
    match is_known {
        Some(true) => Ok(()),
        Some(false) | None => Ok(batch.add(BLOCKS, params![lane.project, lane.lane, key])?),
    }
}

/// Returns the blocks of a stem, newest first. If `is_enough` returns true for the newest block, it may be the only
/// one. The cache is not locked while blocks are read.
pub(in super::super) fn read_blocks(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    key: i64,
    is_enough: impl Fn(&[u8]) -> bool,
) -> Result<Arc<Blocks>, Failure> {
    let version = index.merge_version();
    let known = cache.with(lane, version, |cached: &mut CachedPostings| {
        Ok(cached.stems.get(&key).map(Arc::clone))
    })?;
    if let Some(blocks) = known.flatten() {
        return Ok(blocks);
    }
    let mut statement = connection.prepare_cached(BLOCKS)?;
    let mut rows = statement.query(params![lane.project, lane.lane, key])?;
    let mut blocks = Blocks::new();
    while let Some(row) = rows.next()? {
        let block = row.get_ref(0)?.as_blob().unwrap_or(&[]);
        blocks.push(Box::from(block));
        // PostgreSQL has sent all blocks by now.
        if blocks.len() == 1 && !connection.is_postgres() && is_enough(block) {
            return Ok(Arc::new(blocks));
        }
    }
    let blocks = Arc::new(blocks);
    cache.with(lane, version, |cached: &mut CachedPostings| {
        cached.insert(key, &blocks);
        Ok(())
    })?;
    Ok(blocks)
}

impl CachedPostings {
    fn insert(&mut self, key: i64, blocks: &Arc<Blocks>) {
        if self.stems.insert(key, Arc::clone(blocks)).is_none() {
            let content: usize = blocks.iter().map(|block| block.len()).sum();
            self.bytes += content + blocks.len() * size_of::<Box<[u8]>>();
        }
    }

    /// Adds the postings of a new stem of this size and returns the number of stems.
    #[cfg(test)]
    pub(super) fn add_for_test(&mut self, bytes: usize) -> usize {
        self.bytes += bytes;
        let key = i64::try_from(self.stems.len()).unwrap_or(i64::MAX);
        self.stems.insert(key, Arc::default());
        self.stems.len()
    }
}

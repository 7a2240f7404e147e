//! Cache of the data of each lane of a project for long-lived processes. All of it can be read from the database again.
//!
//! All cached data follow the same rules:
//!
//! - **Version.** An entry belongs to one version of its rows, which each query determines for its own snapshot. A
//!   query with another version discards the entry. While the version stays the same, rows are only appended: an entry
//!   reads the new ones, and a query with an older snapshot uses only the rows that it has.
//! - **Warm-up.** The first queries of a process for a project neither use nor fill the cache: they may be its only
//!   ones.
//! - **Memory.** All entries share one limit. Above it, the data of other projects are dropped in order of their last
//!   use (LRU). If an entry does not fit even so, queries read its rows from the database.
//! - **Locks.** Each project has a lock, which its query holds while it reads rows that the entry lacks: a slow database
//!   or a lost node delays no query of another project. The lock of the totals is held only for arithmetic. A thread that
//!   holds it never waits for the lock of a project.
//!
//! | Entry | Version | Appended |
//! |---|---|---|
//! | [`CachedOrdinals`], [`CachedVectors`] | [`IndexState::epoch`] | merged texts |
//! | [`CachedKinds`] | the same | texts |
//! | [`CachedTail`] | the same, and the number of merged texts | texts |
//! | [`CachedPostings`] | the same, and the number of merged texts | stems of further queries |
//! | [`CachedExternalVectors`] | the same | blocks with vectors that the header of the query lists in addition |
//! | [`CachedCounts`] | the stamp of the database, which every write changes | nothing |

mod ordinal_ids;
mod posting_lists;
mod project_vectors;
mod record_counts;
mod tail_rows;
#[cfg(test)]
mod tests;
mod text_kinds;

pub(super) use ordinal_ids::{OrdinalTable, prefetch_ordinals, read_ids, read_ordinals};
pub(super) use posting_lists::{Blocks, prefetch_blocks, read_blocks};
pub(super) use project_vectors::{
    ProjectVectors, cached_external_vectors, prefetch_vectors, read_vectors, score_external_vectors,
};
pub(super) use tail_rows::{prefetch_tail, read_tail};
pub(super) use text_kinds::{mark_other_kinds, prefetch_kinds};

use super::index_state::{Epoch, IndexState};
use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use heirloom_model::limits::PROJECT_CACHE_BYTES_MAX;
use ordinal_ids::CachedOrdinals;
use posting_lists::CachedPostings;
use project_vectors::{CachedExternalVectors, CachedVectors};
use record_counts::CachedCounts;
pub(crate) use record_counts::ContentStamp;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tail_rows::CachedTail;
use text_kinds::CachedKinds;

/// Queries of a project that do not use the cache: a command runs two or three and then ends.
const COLD_QUERIES: u32 = 3;

/// Cached data of all projects of a store.
#[derive(Debug)]
pub(crate) struct ProjectCache {
    state: Mutex<CacheState>,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct CacheState {
    lanes: BTreeMap<LaneKey, CachedLane>,
    /// Size of all entries.
    bytes: usize,
    /// Number of queries; orders the projects by last use.
    queries: u64,
    /// Number of reads that found an entry of their version, and of those that did not.
    hits: u64,
    misses: u64,
}

/// Use of the cache since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheUsage {
    /// Reads that found an entry of their version.
    pub(crate) hits: u64,
    /// Reads that found none.
    pub(crate) misses: u64,
    /// Size of all entries, bytes.
    pub(crate) bytes: usize,
}

#[derive(Debug, Default)]
struct CachedLane {
    queries: u32,
    last_used: u64,
    bytes: usize,
    entries: Arc<Mutex<Entries>>,
}

/// Entries of one lane.
#[derive(Debug, Default)]
pub(super) struct Entries {
    postings: Slot<CachedPostings>,
    tail: Slot<CachedTail>,
    ordinals: Slot<CachedOrdinals>,
    kinds: Slot<CachedKinds>,
    vectors: Slot<CachedVectors>,
    external_vectors: Slot<CachedExternalVectors>,
    counts: Slot<CachedCounts>,
}

/// Data of one lane that queries use instead of the database.
pub(super) trait CacheEntry: Default + Debug {
    /// Version of the rows that the entry was read from.
    type Version: Copy + PartialEq + Debug;

    /// Returns the place of this kind of entry.
    fn slot(entries: &mut Entries) -> &mut Slot<Self>;

    /// Returns the approximate memory size, bytes.
    fn bytes(&self) -> usize;
}

/// Place of one entry.
#[derive(Debug)]
pub(super) struct Slot<E: CacheEntry> {
    version: Option<E::Version>,
    /// `None` if the entry of this version does not fit into the memory limit.
    entry: Option<E>,
    bytes: usize,
}

impl<E: CacheEntry> Default for Slot<E> {
    fn default() -> Self {
        Self {
            version: None,
            entry: None,
            bytes: 0,
        }
    }
}

impl Default for ProjectCache {
    fn default() -> Self {
        Self::with_limit(PROJECT_CACHE_BYTES_MAX)
    }
}

impl ProjectCache {
    fn with_limit(bytes_max: usize) -> Self {
        Self {
            state: Mutex::default(),
            bytes_max,
        }
    }

    /// Returns the use of the cache since the start.
    pub(crate) fn usage(&self) -> CacheUsage {
        let state = self.lock();
        CacheUsage {
            hits: state.hits,
            misses: state.misses,
            bytes: state.bytes,
        }
    }

    /// Counts a query of the lane; must be called at its beginning.
    pub(super) fn begin_query(&self, lane: LaneKey) {
        let mut state = self.lock();
        state.queries += 1;
        let queries = state.queries;
        let cached = state.lanes.entry(lane).or_default();
        cached.queries = cached.queries.saturating_add(1);
        cached.last_used = queries;
    }

    /// Returns true if queries of the lane use the cache.
    pub(super) fn is_used(&self, lane: LaneKey) -> bool {
        let state = self.lock();
        let cached = state.lanes.get(&lane);
        cached.is_some_and(|cached| cached.queries > COLD_QUERIES)
    }

    /// Calls `work` with the lane's entry of this version, at first an empty one. Returns `None` without a call
    /// if the query must read from the database: in the first queries, or if the entry is too large.
    ///
    /// `work` must add only rows that this version has, and holds the lock of the project. An error discards the
    /// entry, which may then be incomplete.
    pub(super) fn with<E: CacheEntry, R>(
        &self,
        lane: LaneKey,
        version: E::Version,
        work: impl FnOnce(&mut E) -> Result<R, Failure>,
    ) -> Result<Option<R>, Failure> {
        let Some(entries) = self.entries(lane) else {
            return Ok(None);
        };
        let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = E::slot(&mut entries);
        let bytes_before = slot.bytes;
        let is_hit = slot.version == Some(version) && slot.entry.is_some();
        if slot.version != Some(version) {
            *slot = Slot {
                version: Some(version),
                entry: Some(E::default()),
                bytes: 0,
            };
        }
        let done = slot.entry.as_mut().map(work).transpose();
        match &done {
            Ok(_) => slot.bytes = slot.entry.as_ref().map_or(0, E::bytes),
            Err(_) => *slot = Slot::default(),
        }
        let mut state = self.lock();
        state.hits += u64::from(is_hit);
        state.misses += u64::from(!is_hit);
        state.resize(lane, bytes_before, slot.bytes);
        if state.bytes > self.bytes_max {
            state.drop_others(lane, self.bytes_max);
        }
        if state.bytes > self.bytes_max {
            slot.entry = None;
            state.resize(lane, std::mem::take(&mut slot.bytes), 0);
        }
        drop(state);
        done
    }

    /// Returns the entries of a lane whose queries use the cache.
    fn entries(&self, lane: LaneKey) -> Option<Arc<Mutex<Entries>>> {
        let state = self.lock();
        let cached = state.lanes.get(&lane);
        let cached = cached.filter(|cached| cached.queries > COLD_QUERIES)?;
        Some(Arc::clone(&cached.entries))
    }

    /// A poisoned lock is safe: at worst an entry's size is wrong until its version changes.
    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    /// Replaces the size of one entry in the sums.
    fn resize(&mut self, lane: LaneKey, before: usize, after: usize) {
        if let Some(cached) = self.lanes.get_mut(&lane) {
            cached.bytes = cached.bytes - before + after;
            self.bytes = self.bytes - before + after;
        }
    }

    /// Drops the entries of other lanes in order of their last use, except of those that a query uses now.
    fn drop_others(&mut self, current: LaneKey, bytes_max: usize) {
        let others = self.lanes.iter_mut();
        let mut others: Vec<_> = others
            .filter(|(lane, one)| **lane != current && one.bytes > 0)
            .map(|(_, one)| one)
            .collect();
        others.sort_unstable_by_key(|one| one.last_used);
        for other in others {
            if self.bytes <= bytes_max {
                break;
            }
            let Ok(mut entries) = other.entries.try_lock() else {
                continue;
            };
            *entries = Entries::default();
            drop(entries);
            self.bytes -= std::mem::take(&mut other.bytes);
        }
    }
}

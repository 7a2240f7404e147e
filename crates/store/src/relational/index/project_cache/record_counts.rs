//! Cached record counts by kind. Counting reads an index entry for each record.

use super::{CacheEntry, Entries, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::relational::record_lookup;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::Kind;

/// Bytes that change with every write to the database.
pub(crate) type ContentStamp = [u8; 48];

/// Number of unretired records of each kind.
#[derive(Debug, Default)]
pub(super) struct CachedCounts(Option<Vec<(Kind, u64)>>);

impl CacheEntry for CachedCounts {
    type Version = ContentStamp;

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.counts
    }

    fn bytes(&self) -> usize {
        let counts = self.0.as_deref();
        counts.map_or(0, size_of_val)
    }
}

impl ProjectCache {
    /// Returns the number of unretired records of each kind. `stamp` is taken before the query, so that the entry is
    /// discarded after a later write; without one nothing is cached. The cache is not locked while records are
    /// counted.
    pub(crate) fn count_unretired(
        &self,
        connection: Connection<'_>,
        project: i64,
        stamp: Option<ContentStamp>,
    ) -> Result<Vec<(Kind, u64)>, Failure> {
        let Some(stamp) = stamp else {
            return record_lookup::count_unretired(connection, project);
        };
        let lane = LaneKey::memory(project);
        self.begin_query(lane);
        let known = self.with(lane, stamp, |cached: &mut CachedCounts| {
            Ok(cached.0.clone())
        })?;
        if let Some(counts) = known.flatten() {
            return Ok(counts);
        }
        let counts = record_lookup::count_unretired(connection, project)?;
        self.with(lane, stamp, |cached: &mut CachedCounts| {
            cached.0 = Some(counts.clone());
            Ok(())
        })?;
        Ok(counts)
    }
}

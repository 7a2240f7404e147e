//! Cached kind of every text, for queries by kind. The database finds the records of a kind one by one, and not in
//! index order.

use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::sql::{Connection, QueryBatch};
use heirloom_model::Kind;
use rusqlite::params;
use std::sync::Arc;

/// Code of a text without a row in a damaged index.
const NONE: u8 = u8::MAX;

/// For each text the position of its kind in [`Kind::ALL`].
#[derive(Debug, Default)]
pub(super) struct CachedKinds(Arc<Vec<u8>>);

impl CacheEntry for CachedKinds {
    type Version = Epoch;

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.kinds
    }

    fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Statement that reads the kinds of the texts from an ordinal on.
const KINDS: &str = "SELECT o.ordinal, r.kind FROM ordinals o LEFT JOIN records r INDEXED BY records_by_id \
     ON r.project = o.project AND r.id = o.id \
     WHERE o.project = ?1 AND o.lane = ?2 AND o.ordinal >= ?3 ORDER BY o.ordinal";

/// Adds the query of [`mark_other_kinds`] to a batch, unless the kinds are cached.
pub(in super::super) fn prefetch_kinds(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<(), Failure> {
    let known = cache.with(lane, index.epoch(), |cached: &mut CachedKinds| {
        Ok(cached.0.len())
    })?;
    match known {
        Some(known) if known < index.texts() as usize => {
            Ok(batch.add(KINDS, params![lane.project, lane.lane, known])?)
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns a bitmap of the texts of none of these kinds; `None` without a cache.
pub(in super::super) fn mark_other_kinds(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    kinds_wanted: &[Kind],
) -> Result<Option<Vec<u8>>, Failure> {
    let texts = index.texts() as usize;
    let known = cache.with(lane, index.epoch(), |cached: &mut CachedKinds| {
        if cached.0.len() < texts {
            // Copies the kinds if another query uses them.
            extend(Arc::make_mut(&mut cached.0), connection, lane)?;
        }
        Ok(Arc::clone(&cached.0))
    })?;
    Ok(known.map(|known| {
        // Another query may have cached later texts than this one's snapshot has.
        complement(known.get(..texts).unwrap_or(&known), texts, kinds_wanted)
    }))
}

fn complement(known: &[u8], texts: usize, kinds_wanted: &[Kind]) -> Vec<u8> {
    let is_wanted: [bool; 256] = std::array::from_fn(|code| {
        Kind::ALL
            .get(code)
            .is_some_and(|kind| kinds_wanted.contains(kind))
    });
    let mut bits = vec![0_u8; texts / 8 + 1];
    for (byte, kinds) in bits.iter_mut().zip(known.chunks(8)) {
        for (place, kind) in kinds.iter().enumerate() {
            let is_other = !is_wanted.get(usize::from(*kind)).copied().unwrap_or(false);
            *byte |= u8::from(is_other) << place;
        }
    }
    bits
}

/// Reads the kinds of new texts.
fn extend(kinds: &mut Vec<u8>, connection: Connection<'_>, lane: LaneKey) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(KINDS)?;
    let mut rows = statement.query(params![lane.project, lane.lane, kinds.len()])?;
    while let Some(row) = rows.next()? {
        let kind = row.get_ref(1)?.as_str_or_null().unwrap_or(None);
        let place = Kind::ALL.iter().position(|one| Some(one.as_str()) == kind);
        let code = place.and_then(|place| u8::try_from(place).ok());
        // A text without a row in a damaged index has no kind.
        kinds.resize(row.get::<u32>(0)? as usize, NONE);
        kinds.push(code.unwrap_or(NONE));
    }
    Ok(())
}

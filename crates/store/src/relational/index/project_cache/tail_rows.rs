//! Cached tail of the index, grouped by stem and by word piece.

use super::super::index_entry::{entries, pieces};
use super::super::tail::{ROWS, Tail, each_row};
use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::sql::{Connection, QueryBatch};
use heirloom_search::index::tokenizer::Term;
use rusqlite::params;
use std::collections::HashMap;
use std::sync::Arc;

/// Cached tail up to some ordinal.
#[derive(Debug, Default)]
pub(super) struct CachedTail {
    /// First ordinal that is not cached.
    next: u32,
    postings: HashMap<Term, Vec<(u32, u8)>>,
    counts: HashMap<u16, u32>,
    vectors: Arc<Vec<u8>>,
    bytes: usize,
}

impl CacheEntry for CachedTail {
    type Version = (Epoch, u32);

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.tail
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Adds the query of [`read_tail`] to a batch, unless the rows are cached.
pub(in super::super) fn prefetch_tail(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<(), Failure> {
    let version = index.merge_version();
    let known = cache.with(lane, version, |cached: &mut CachedTail| {
        Ok((cached.next <= index.texts()).then(|| cached.next.max(index.merged)))
    })?;
    let from = known.flatten().unwrap_or(0);
    if from < index.texts() && index.merged < index.texts() {
        batch.add(ROWS, params![lane.project, lane.lane, from])?;
    }
    Ok(())
}

/// Returns the tail's data for these terms and pieces.
pub(in super::super) fn read_tail(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    terms: &[Term],
    query_pieces: &[u16],
) -> Result<Tail, Failure> {
    let version = index.merge_version();
    let known = cache.with(lane, version, |cached: &mut CachedTail| {
        if cached.next > index.texts() {
            // Another query has cached later texts than this one's snapshot has.
            return Ok(None);
        }
        cached.extend(connection, lane, index)?;
        Ok(Some(cached.select(terms, query_pieces)))
    })?;
    match known.flatten() {
        Some(tail) => Ok(tail),
        None => Tail::read(connection, lane, terms, query_pieces),
    }
}

impl CachedTail {
    /// Reads new rows.
    fn extend(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
    ) -> Result<(), Failure> {
        self.next = self.next.max(index.merged);
        if self.next >= index.texts() {
            return Ok(());
        }
        // Copies the vectors if a query uses them.
        let vectors = Arc::make_mut(&mut self.vectors);
        each_row(connection, lane, self.next, |ordinal, row| {
            for (term, code) in entries(row.terms) {
                self.postings.entry(term).or_default().push((ordinal, code));
            }
            for piece in pieces(row.pieces) {
                *self.counts.entry(piece).or_default() += 1;
            }
            vectors.extend_from_slice(row.vector);
            self.bytes += row.terms.len() + row.pieces.len() + row.vector.len();
            self.next = ordinal + 1;
        })
    }

    fn select(&self, terms: &[Term], query_pieces: &[u16]) -> Tail {
        let of_term = |term| self.postings.get(term).cloned().unwrap_or_default();
        let counts = query_pieces.iter().map(|piece| {
            let count = self.counts.get(piece).copied();
            (*piece, count.unwrap_or_default())
        });
        let vectors = match query_pieces {
            [] => Arc::default(),
            _ => Arc::clone(&self.vectors),
        };
        Tail::of(terms.iter().map(of_term).collect(), counts, vectors)
    }
}

//! Cached vectors: the built-in ones in merged blocks, and those of an external model.

use super::super::external_vectors::{self, BLOCK as EXTERNAL_BLOCK, ExternalHeader};
use super::super::vector_blocks::{self, BLOCK};
use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use crate::lane::LaneKey;
use crate::sql::{Connection, QueryBatch};
use heirloom_search::index::vector::{
    ExternalQueryVector, ExternalVectorSet, ROW_BYTES, VectorSet,
};
use std::sync::Arc;

/// Merged built-in vectors of a project and the document frequencies of their word pieces.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct ProjectVectors {
    /// Vectors in order of their ordinals.
    pub(in super::super) rows: VectorSet,
    /// Number of merged texts when `counts` was read.
    merged: u32,
    /// Document frequency of each word piece, in stored form.
    counts: Vec<u8>,
}

/// Cached built-in vectors.
#[derive(Debug, Default)]
pub(super) struct CachedVectors(Arc<ProjectVectors>);

impl CacheEntry for CachedVectors {
    type Version = Epoch;

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.vectors
    }

    fn bytes(&self) -> usize {
        self.0.rows.bytes() + self.0.counts.len()
    }
}

/// Adds the queries for the built-in vectors and their word pieces to a batch, unless they are cached.
pub(in super::super) fn prefetch_vectors(
    cache: &ProjectCache,
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<(), Failure> {
    let known = cache.with(lane, index.epoch(), |cached: &mut CachedVectors| {
        Ok((cached.0.rows.len(), cached.0.merged))
    })?;
    let (rows, merged) = known.unwrap_or_default();
    if rows < index.merged as usize {
        let from = u32::try_from(rows).unwrap_or(u32::MAX) / BLOCK;
        vector_blocks::prefetch_blocks(batch, lane, from)?;
    }
    if merged != index.merged {
        batch.add(vector_blocks::COUNTS, lane.values())?;
    }
    Ok(())
}

/// Returns the built-in vectors, at least those of this state of the index; `None` without a cache.
pub(in super::super) fn read_vectors(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<Option<Arc<ProjectVectors>>, Failure> {
    cache.with(lane, index.epoch(), |cached: &mut CachedVectors| {
        if cached.0.rows.len() < index.merged as usize {
            // Copies the vectors if another query uses them.
            Arc::make_mut(&mut cached.0).extend(connection, lane, index)?;
        }
        Ok(Arc::clone(&cached.0))
    })
}

impl ProjectVectors {
    /// Returns the document frequencies in this state of the index; `None` if another query has cached later ones.
    pub(in super::super) fn counts(&self, index: &IndexState) -> Option<&[u8]> {
        (self.merged == index.merged).then_some(&self.counts)
    }

    /// Reads new rows.
    fn extend(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
    ) -> Result<(), Failure> {
        // The last cached block may have grown.
        let from = u32::try_from(self.rows.len()).unwrap_or(u32::MAX) / BLOCK;
        let mut known = self.rows.len() % BLOCK as usize * ROW_BYTES;
        vector_blocks::each_block(connection, lane, from, |bytes| {
            self.rows.extend(bytes.get(known..).unwrap_or(&[]));
            known = 0;
        })?;
        self.counts = vector_blocks::counts(connection, lane)?;
        self.merged = index.merged;
        Ok(())
    }
}

/// Cached external vectors.
#[derive(Debug, Default)]
pub(super) struct CachedExternalVectors {
    /// Header of the last read; `None` before the first one.
    head: Option<ExternalHeader>,
    set: Arc<ExternalVectorSet>,
}

impl CacheEntry for CachedExternalVectors {
    type Version = Epoch;

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.external_vectors
    }

    fn bytes(&self) -> usize {
        self.set.bytes()
    }
}

impl CachedExternalVectors {
    /// Returns the vectors of this header; `None` if another query has cached later ones.
    fn read(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        head: &ExternalHeader,
    ) -> Result<Option<Arc<ExternalVectorSet>>, Failure> {
        match &self.head {
            Some(known) if known.serial > head.serial => return Ok(None),
            Some(known) if known.serial == head.serial => {}
            Some(known) if known.has_prefix_of(head) => {
                let set = Arc::make_mut(&mut self.set);
                for block in known.changed_blocks(head) {
                    let rows = external_vectors::read_block(connection, lane, block)?;
                    set.set_block(block as usize, &rows);
                }
                self.head = Some(head.clone());
            }
            Some(_) | None => {
                self.set = Arc::new(read_all(connection, lane, head)?);
                self.head = Some(head.clone());
            }
        }
        Ok(Some(Arc::clone(&self.set)))
    }
}

fn read_all(
    connection: Connection<'_>,
    lane: LaneKey,
    head: &ExternalHeader,
) -> Result<ExternalVectorSet, Failure> {
    let mut set = ExternalVectorSet::new(head.dims);
    external_vectors::each_block(connection, lane, |block, rows| {
        set.set_block(block as usize, rows);
    })?;
    Ok(set)
}

/// Returns the external vectors of the cache; `None` if a query must read them from the database.
pub(in super::super) fn cached_external_vectors(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    head: &ExternalHeader,
) -> Result<Option<Arc<ExternalVectorSet>>, Failure> {
    let found = cache.with(lane, index.epoch(), |cached: &mut CachedExternalVectors| {
        cached.read(connection, lane, head)
    })?;
    Ok(found.flatten())
}

/// Returns the cosine of the query with each external vector, in order of the ordinals; `None` for a text without
/// one.
pub(in super::super) fn score_external_vectors(
    cache: &ProjectCache,
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    head: &ExternalHeader,
    query: &ExternalQueryVector,
) -> Result<Vec<Option<f32>>, Failure> {
    let texts = index.texts() as usize;
    if let Some(set) = cached_external_vectors(cache, connection, lane, index, head)? {
        return Ok(set.cosines(query, texts));
    }
    let mut scores = Vec::with_capacity(texts);
    external_vectors::each_block(connection, lane, |block, rows| {
        scores.resize((block * EXTERNAL_BLOCK) as usize, None);
        query.scores(rows, &mut scores);
    })?;
    scores.resize(texts, None);
    Ok(scores)
}

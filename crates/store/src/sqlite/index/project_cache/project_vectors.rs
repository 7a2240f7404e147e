//! Cached vectors: the built-in ones in merged blocks, and those of an external model.

use super::super::external_vectors::{self, BLOCK as EXTERNAL_BLOCK, ExternalHeader};
use super::super::vector_blocks::{self, BLOCK};
use super::{CacheEntry, Entries, Epoch, Failure, IndexState, ProjectCache, Slot};
use heirloom_search::index::vector::{ExternalQueryVector, ROW_BYTES, VectorSet};
use rusqlite::Connection;
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

/// Returns the built-in vectors, at least those of this state of the index; `None` without a cache.
pub(in super::super) fn read_vectors(
    cache: &ProjectCache,
    connection: &Connection,
    project: i64,
    index: &IndexState,
) -> Result<Option<Arc<ProjectVectors>>, Failure> {
    cache.with(project, index.epoch(), |cached: &mut CachedVectors| {
        if cached.0.rows.len() < index.merged as usize {
            // Copies the vectors if another query uses them.
            Arc::make_mut(&mut cached.0).extend(connection, project, index)?;
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
        connection: &Connection,
        project: i64,
        index: &IndexState,
    ) -> Result<(), Failure> {
        // The last cached block may have grown.
        let from = u32::try_from(self.rows.len()).unwrap_or(u32::MAX) / BLOCK;
        let mut known = self.rows.len() % BLOCK as usize * ROW_BYTES;
        vector_blocks::each_block(connection, project, from, |bytes| {
            self.rows.extend(bytes.get(known..).unwrap_or(&[]));
            known = 0;
        })?;
        self.counts = vector_blocks::counts(connection, project)?;
        self.merged = index.merged;
        Ok(())
    }
}

/// Cached external vectors: the number of each block and its rows.
#[derive(Debug, Default)]
pub(super) struct CachedExternalVectors {
    blocks: Option<Arc<ExternalBlocks>>,
    bytes: usize,
}

type ExternalBlocks = Vec<(u32, Vec<u8>)>;

impl CacheEntry for CachedExternalVectors {
    type Version = (Epoch, u64);

    fn slot(entries: &mut Entries) -> &mut Slot<Self> {
        &mut entries.external_vectors
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl CachedExternalVectors {
    fn blocks(
        &mut self,
        connection: &Connection,
        project: i64,
    ) -> Result<Arc<ExternalBlocks>, Failure> {
        if let Some(blocks) = &self.blocks {
            return Ok(Arc::clone(blocks));
        }
        let mut blocks = ExternalBlocks::new();
        external_vectors::each_block(connection, project, |block, bytes| {
            self.bytes += bytes.len();
            blocks.push((block, bytes.to_vec()));
        })?;
        let blocks = Arc::new(blocks);
        self.blocks = Some(Arc::clone(&blocks));
        Ok(blocks)
    }
}

/// Returns the cosine of the query with each external vector, in order of the ordinals; `None` for a text without
/// one.
pub(in super::super) fn score_external_vectors(
    cache: &ProjectCache,
    connection: &Connection,
    project: i64,
    index: &IndexState,
    head: &ExternalHeader,
    query: &ExternalQueryVector,
) -> Result<Vec<Option<f32>>, Failure> {
    let texts = index.texts() as usize;
    let mut scores = Vec::with_capacity(texts);
    let mut score = |block: u32, bytes: &[u8]| {
        scores.resize((block * EXTERNAL_BLOCK) as usize, None);
        query.scores(bytes, &mut scores);
    };
    let version = (index.epoch(), head.serial);
    let known = cache.with(project, version, |cached: &mut CachedExternalVectors| {
        cached.blocks(connection, project)
    })?;
    match known {
        Some(blocks) => blocks
            .iter()
            .for_each(|(block, bytes)| score(*block, bytes)),
        None => external_vectors::each_block(connection, project, score)?,
    }
    scores.resize(texts, None);
    Ok(scores)
}

//! Storage of vector blocks and of the document frequencies of word pieces.

use super::vector_rows;
use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch};
use heirloom_search::index::vector::ROW_BYTES;
use heirloom_search::index::word_pieces::PieceCounts;
use rusqlite::params;
use std::ops::Range;

/// Vectors in a block.
pub(super) const BLOCK: u32 = 256;

/// Returns the key of a vector block.
pub(super) fn key(lane: LaneKey, block: u32) -> i64 {
    lane.number() << 32 | i64::from(block)
}

/// Vectors to merge into blocks: packed rows in order of their ordinals, and the word pieces of each.
#[derive(Default)]
pub(super) struct PendingVectors {
    pub(super) rows: Vec<u8>,
    pub(super) pieces: Vec<Vec<u16>>,
}

impl PendingVectors {
    pub(super) fn add(&mut self, row: &[u8], pieces: Vec<u16>) {
        let at = self.rows.len();
        self.rows.extend_from_slice(row);
        // A damaged row of the tail must not shift the rows after it.
        self.rows.resize(at + ROW_BYTES, 0);
        self.pieces.push(pieces);
    }

    /// Appends the rows after the `from` vectors that are already in blocks.
    pub(super) fn write(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        from: u32,
    ) -> Result<(), Failure> {
        let mut block = from / BLOCK;
        // Both before the first write, which discards the rows that were read in advance.
        let known = vector_rows::read(connection, lane.project, key(lane, block))?;
        let counts = counts(connection, lane)?;
        let mut data = known.unwrap_or_default();
        data.resize((from % BLOCK) as usize * ROW_BYTES, 0);
        for row in self.rows.chunks_exact(ROW_BYTES) {
            data.extend_from_slice(row);
            if data.len() == BLOCK as usize * ROW_BYTES {
                vector_rows::write(connection, lane.project, key(lane, block), &data)?;
                data.clear();
                block += 1;
            }
        }
        if !data.is_empty() {
            vector_rows::write(connection, lane.project, key(lane, block), &data)?;
        }
        self.count(connection, lane, &counts)?;
        self.rows.clear();
        self.pieces.clear();
        Ok(())
    }

    fn count(
        &self,
        connection: Connection<'_>,
        lane: LaneKey,
        known: &[u8],
    ) -> Result<(), Failure> {
        let mut counts = PieceCounts::from_bytes(known).unwrap_or_default();
        for pieces in &self.pieces {
            counts.add(pieces);
        }
        let sql = "INSERT INTO piece_counts (project, lane, data) VALUES (?1, ?2, ?3) \
             ON CONFLICT (project, lane) DO UPDATE SET data = excluded.data";
        let mut statement = connection.prepare_cached(sql)?;
        statement.write(params![lane.project, lane.lane, counts.to_bytes()])?;
        Ok(())
    }
}

/// Statement that reads the document frequencies of a project.
pub(super) const COUNTS: &str = "SELECT data FROM piece_counts WHERE project = ?1 AND lane = ?2";

/// Adds the queries of [`PendingVectors::write`] to a batch, for rows from `from` on.
pub(super) fn prefetch(
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    from: u32,
) -> Result<(), Failure> {
    vector_rows::prefetch(batch, lane.project, key(lane, from / BLOCK))?;
    Ok(batch.add(COUNTS, lane.values())?)
}

/// Reads the document frequency of each piece in the form of `PieceCounts`; empty if none was stored.
pub(super) fn counts(connection: Connection<'_>, lane: LaneKey) -> Result<Vec<u8>, Failure> {
    let found = connection
        .prepare_cached(COUNTS)?
        .query_row(lane.values(), |row| row.get(0));
    Ok(found.optional()?.unwrap_or_default())
}

/// Adds the query of [`each_block`] to a batch.
pub(super) fn prefetch_blocks(
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    from: u32,
) -> Result<(), Failure> {
    vector_rows::prefetch_range(batch, lane.project, keys_from(lane, from))
}

/// Returns the keys of the blocks of a lane from `from` on.
pub(super) fn keys_from(lane: LaneKey, from: u32) -> Range<i64> {
    key(lane, from)..(lane.number() + 1) << 32
}

/// Calls `each` with the rows of every block from `from` on.
pub(super) fn each_block(
    connection: Connection<'_>,
    lane: LaneKey,
    from: u32,
    mut each: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    let keys = keys_from(lane, from);
    vector_rows::each_in(connection, lane.project, keys, false, |_, bytes| {
        let whole = bytes.len() / ROW_BYTES * ROW_BYTES;
        each(bytes.get(..whole).unwrap_or(&[]));
    })
}

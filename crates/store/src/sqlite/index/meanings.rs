//! Vectors and the counts of their pieces, as they are stored.

use super::super::failure::Failure;
use heirloom_index::pieces::PieceCounts;
use heirloom_index::vector::ROW_BYTES;
use rusqlite::{Connection, OptionalExtension, params};

/// Vectors to a row.
pub(super) const BLOCK: u32 = 256;

/// The key of a block of vectors.
pub(super) fn key(project: i64, block: u32) -> i64 {
    project << 32 | i64::from(block)
}

/// Meanings on their way into blocks: packed vectors in the order of their ordinals, and the pieces of each.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) rows: Vec<u8>,
    pub(super) pieces: Vec<Vec<u16>>,
}

impl Pending {
    pub(super) fn add(&mut self, row: &[u8], pieces: Vec<u16>) {
        let at = self.rows.len();
        self.rows.extend_from_slice(row);
        // Whatever stands in a damaged tail, the rows behind it stay in their places.
        self.rows.resize(at + ROW_BYTES, 0);
        self.pieces.push(pieces);
    }

    /// Writes everything behind the `from` vectors that are in blocks.
    pub(super) fn write(
        &mut self,
        connection: &Connection,
        project: i64,
        from: u32,
    ) -> Result<(), Failure> {
        let mut block = from / BLOCK;
        let known = "SELECT data FROM vectors WHERE id = ?1";
        let known = connection
            .prepare_cached(known)?
            .query_row([key(project, block)], |row| row.get(0));
        let mut data: Vec<u8> = known.optional()?.unwrap_or_default();
        data.resize((from % BLOCK) as usize * ROW_BYTES, 0);
        let write = "INSERT OR REPLACE INTO vectors (id, data) VALUES (?1, ?2)";
        let mut write = connection.prepare_cached(write)?;
        for row in self.rows.chunks_exact(ROW_BYTES) {
            data.extend_from_slice(row);
            if data.len() == BLOCK as usize * ROW_BYTES {
                write.execute(params![key(project, block), data])?;
                data.clear();
                block += 1;
            }
        }
        if !data.is_empty() {
            write.execute(params![key(project, block), data])?;
        }
        self.count(connection, project)?;
        self.rows.clear();
        self.pieces.clear();
        Ok(())
    }

    fn count(&self, connection: &Connection, project: i64) -> Result<(), Failure> {
        let known = counts(connection, project)?;
        let mut counts = PieceCounts::from_bytes(&known).unwrap_or_default();
        for pieces in &self.pieces {
            counts.add(pieces);
        }
        let sql = "INSERT OR REPLACE INTO piece_counts (project, data) VALUES (?1, ?2)";
        connection
            .prepare_cached(sql)?
            .execute(params![project, counts.to_bytes()])?;
        Ok(())
    }
}

/// How many texts have each piece, as `PieceCounts` packs it; empty if none was counted yet.
pub(super) fn counts(connection: &Connection, project: i64) -> Result<Vec<u8>, Failure> {
    let sql = "SELECT data FROM piece_counts WHERE project = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([project], |row| row.get(0));
    Ok(found.optional()?.unwrap_or_default())
}

//! Compaction: merges the tail into posting and vector blocks.
//!
//! A merge touches a block of nearly every stem in the tail, and blocks writers. So a process with many threads
//! defers it until no thread writes, unless the tail grows too long.

use super::index_entry::{entries, pieces};
use super::vector_blocks;
use crate::lane::LaneKey;
pub(super) use crate::sql::TailLength;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow};
use heirloom_search::index::posting_blocks::{self, Block, Posting};
use heirloom_search::index::tokenizer::Term;
use rusqlite::params;
use std::collections::HashMap;

/// Returns the tail length at which a merge is due: more in a large index, where a merge touches more blocks.
fn merge_threshold(texts: u32) -> u32 {
    match texts {
        0..100_000 => 256,
        100_000..1_000_000 => 512,
        _ => 1_024,
    }
}

/// Longest tail, rows. A process that defers the merge reads the tail with every query. Of this many writes, less
/// than one in a hundred waits for the merge.
const TAIL_MAX: u32 = 16_384;
/// Rows that one merge step keeps in memory.
const ROWS_AT_ONCE: u32 = 4_096;

impl TailLength {
    /// Reads the tail length of a project; `None` if it has no index.
    pub(super) fn of(connection: Connection<'_>, lane: LaneKey) -> Result<Option<Self>, Failure> {
        let locked = connection.locked_index();
        if let Some(length) = locked.and_then(|locked| locked.borrow().length(lane)) {
            return Ok(Some(length));
        }
        let sql = "SELECT texts, merged FROM index_totals WHERE project = ?1 AND lane = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row(lane.values(), |row| {
            let (texts, merged) = (row.get(0)?, row.get(1)?);
            Ok(Self { texts, merged })
        });
        Ok(found.optional()?)
    }

    fn rows(self) -> u32 {
        self.texts.saturating_sub(self.merged)
    }

    /// Returns true if a merge is due.
    pub(crate) fn is_merge_due(self) -> bool {
        self.rows() >= merge_threshold(self.texts)
    }

    /// Returns true if a merge cannot be deferred.
    pub(super) fn is_at_limit(self) -> bool {
        self.rows() >= TAIL_MAX
    }
}

/// Posting to merge: term, ordinal, code.
pub(super) type PendingPosting = (Term, u32, u8);

/// Merges the whole tail of a project.
pub(super) fn merge(connection: Connection<'_>, lane: LaneKey) -> Result<(), Failure> {
    while merge_part(connection, lane)? {}
    Ok(())
}

/// Statement that reads the oldest rows of a tail.
const OLDEST_ROWS: &str = "SELECT ordinal, terms, pieces, vector FROM tail WHERE project = ?1 \
     AND lane = ?2 ORDER BY ordinal LIMIT ?3";

/// Merges the oldest rows of a project's tail. Returns true if there are more.
pub(super) fn merge_part(connection: Connection<'_>, lane: LaneKey) -> Result<bool, Failure> {
    let mut pending: Vec<PendingPosting> = Vec::new();
    let mut vectors = vector_blocks::PendingVectors::default();
    let (mut first, mut next, mut count) = (None, 0, 0);
    let locked = connection.locked_index();
    if let Some(length) = locked.and_then(|locked| locked.borrow().length(lane)) {
        connection.prefetch(|batch| {
            batch.add(OLDEST_ROWS, params![lane.project, lane.lane, ROWS_AT_ONCE])?;
            vector_blocks::prefetch(batch, lane, length.merged)
        })?;
    }
    {
        let mut statement = connection.prepare_cached(OLDEST_ROWS)?;
        let mut rows = statement.query(params![lane.project, lane.lane, ROWS_AT_ONCE])?;
        while let Some(row) = rows.next()? {
            let ordinal: u32 = row.get(0)?;
            let terms = row.get_ref(1)?.as_blob().unwrap_or(&[]);
            pending.extend(entries(terms).map(|(term, code)| (term, ordinal, code)));
            let counted = pieces(row.get_ref(2)?.as_blob().unwrap_or(&[])).collect();
            vectors.add(row.get_ref(3)?.as_blob().unwrap_or(&[]), counted);
            first.get_or_insert(ordinal);
            next = ordinal + 1;
            count += 1;
        }
    }
    let Some(first) = first else {
        return Ok(false);
    };
    // Before the postings, whose writes discard the rows that were read in advance.
    vectors.write(connection, lane, first)?;
    write(connection, lane, &mut pending)?;
    connection
        .prepare_cached("DELETE FROM tail WHERE project = ?1 AND lane = ?2 AND ordinal < ?3")?
        .write(params![lane.project, lane.lane, next])?;
    let sql = "UPDATE index_totals SET merged = ?3 WHERE project = ?1 AND lane = ?2";
    connection
        .prepare_cached(sql)?
        .write(params![lane.project, lane.lane, next])?;
    if let Some(locked) = connection.locked_index() {
        locked.borrow_mut().set_merged(lane, next);
    }
    Ok(count == ROWS_AT_ONCE)
}

/// Appends postings, whose ordinals are higher than all merged ones, to the blocks.
pub(super) fn write(
    connection: Connection<'_>,
    lane: LaneKey,
    pending: &mut [PendingPosting],
) -> Result<(), Failure> {
    pending.sort_unstable();
    let newest = NewestBlocks::read(connection, lane, pending)?;
    let write = "INSERT INTO postings (project, lane, term, block, data) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (project, lane, term, block) DO UPDATE SET data = excluded.data";
    let mut write = connection.prepare_cached(write)?;
    for group in pending.chunk_by(|a, b| a.0 == b.0) {
        let Some((term, _, _)) = group.first() else {
            continue;
        };
        let term = i64::try_from(term.0).unwrap_or(i64::MAX);
        let found = newest.of_term(connection, lane, term)?;
        let before = match &found {
            None => None,
            Some((number, bytes)) => {
                let block = Block::read(bytes).ok_or_else(|| bad_block(*number))?;
                Some((*number, block))
            }
        };
        let postings: Vec<Posting> = group
            .iter()
            .map(|(_, ordinal, code)| (*ordinal, *code))
            .collect();
        for (number, bytes) in posting_blocks::append(before, &postings) {
            write.write(params![lane.project, lane.lane, term, number, bytes])?;
        }
    }
    Ok(())
}

/// Newest blocks of the terms of a merge.
enum NewestBlocks {
    /// They are read one by one.
    Unread,
    /// They were read in one round trip.
    Read(HashMap<i64, (u32, Vec<u8>)>),
}

impl NewestBlocks {
    /// Reads the newest blocks of all terms in `pending`, which is sorted, from PostgreSQL.
    fn read(
        connection: Connection<'_>,
        lane: LaneKey,
        pending: &[PendingPosting],
    ) -> Result<Self, Failure> {
        if !connection.is_postgres() {
            return Ok(Self::Unread);
        }
        let terms = pending.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::first);
        let terms: Vec<String> = terms.map(|(term, _, _)| term.0.to_string()).collect();
        let sql = "SELECT wanted.term, found.block, found.data \
             FROM unnest(CAST(CAST(?3 AS text) AS bigint[])) AS wanted (term) \
             CROSS JOIN LATERAL (SELECT block, data FROM postings \
             WHERE project = ?1 AND lane = ?2 AND term = wanted.term ORDER BY block DESC LIMIT 1) AS found";
        let mut statement = connection.prepare_cached(sql)?;
        let values = params![lane.project, lane.lane, format!("{{{}}}", terms.join(","))];
        let found =
            statement.query_map(values, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(Self::Read(found.into_iter().collect()))
    }

    /// Returns the number and the bytes of the newest block of a term.
    fn of_term(
        &self,
        connection: Connection<'_>,
        lane: LaneKey,
        term: i64,
    ) -> Result<Option<(u32, Vec<u8>)>, Failure> {
        match self {
            Self::Read(blocks) => Ok(blocks.get(&term).cloned()),
            Self::Unread => {
                let sql = "SELECT block, data FROM postings WHERE project = ?1 AND lane = ?2 AND term = ?3 \
                     ORDER BY block DESC LIMIT 1";
                let mut statement = connection.prepare_cached(sql)?;
                let found = statement.query_row(params![lane.project, lane.lane, term], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                });
                Ok(found.optional()?)
            }
        }
    }
}

/// Returns the error for a block that cannot be read.
pub(super) fn bad_block(number: impl std::fmt::Display) -> Failure {
    Failure::Damaged(format!(
        "block {number} of the index cannot be read: `heirloom doctor --repair` rebuilds the index"
    ))
}

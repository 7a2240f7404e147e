//! Compaction: merges the tail into posting and vector blocks.
//!
//! A merge touches a block of nearly every stem in the tail, and blocks writers. So a process with many threads
//! defers it until no thread writes, unless the tail grows too long.

use super::index_entry::{entries, pieces};
use super::vector_blocks;
use crate::relational::failure::Failure;
use crate::sql::{Connection, OptionalRow};
use heirloom_search::index::posting_blocks::{self, Block, Posting};
use heirloom_search::index::tokenizer::Term;
use rusqlite::params;

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

/// Length of a tail, as total and merged texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct TailLength {
    pub(super) texts: u32,
    pub(super) merged: u32,
}

impl TailLength {
    /// Reads the tail length of a project; `None` if it has no index.
    pub(super) fn of(connection: Connection<'_>, project: i64) -> Result<Option<Self>, Failure> {
        let locked = connection.locked_index();
        if let Some(length) = locked.and_then(|locked| locked.borrow().length(project)) {
            return Ok(Some(length));
        }
        let sql = "SELECT texts, merged FROM index_totals WHERE project = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row([project], |row| {
            let (texts, merged) = (row.get(0)?, row.get(1)?);
            Ok(Self { texts, merged })
        });
        Ok(found.optional()?)
    }

    fn rows(self) -> u32 {
        self.texts.saturating_sub(self.merged)
    }

    /// Returns true if a merge is due.
    pub(super) fn is_merge_due(self) -> bool {
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
pub(super) fn merge(connection: Connection<'_>, project: i64) -> Result<(), Failure> {
    while merge_part(connection, project)? {}
    Ok(())
}

/// Merges the oldest rows of a project's tail. Returns true if there are more.
pub(super) fn merge_part(connection: Connection<'_>, project: i64) -> Result<bool, Failure> {
    let mut pending: Vec<PendingPosting> = Vec::new();
    let mut vectors = vector_blocks::PendingVectors::default();
    let (mut first, mut next, mut count) = (None, 0, 0);
    {
        let sql = "SELECT ordinal, terms, pieces, vector FROM tail WHERE project = ?1 \
             ORDER BY ordinal LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![project, ROWS_AT_ONCE])?;
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
    write(connection, project, &mut pending)?;
    vectors.write(connection, project, first)?;
    connection
        .prepare_cached("DELETE FROM tail WHERE project = ?1 AND ordinal < ?2")?
        .write(params![project, next])?;
    let sql = "UPDATE index_totals SET merged = ?2 WHERE project = ?1";
    connection
        .prepare_cached(sql)?
        .write(params![project, next])?;
    if let Some(locked) = connection.locked_index() {
        locked.borrow_mut().set_merged(project, next);
    }
    Ok(count == ROWS_AT_ONCE)
}

/// Appends postings, whose ordinals are higher than all merged ones, to the blocks.
pub(super) fn write(
    connection: Connection<'_>,
    project: i64,
    pending: &mut [PendingPosting],
) -> Result<(), Failure> {
    pending.sort_unstable();
    let newest = "SELECT block, data FROM postings WHERE project = ?1 AND term = ?2 \
         ORDER BY block DESC LIMIT 1";
    let mut newest = connection.prepare_cached(newest)?;
    let write = "INSERT INTO postings (project, term, block, data) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (project, term, block) DO UPDATE SET data = excluded.data";
    let mut write = connection.prepare_cached(write)?;
    for group in pending.chunk_by(|a, b| a.0 == b.0) {
        let Some((term, _, _)) = group.first() else {
            continue;
        };
        let term = i64::try_from(term.0).unwrap_or(i64::MAX);
        let found: Option<(u32, Vec<u8>)> = newest
            .query_row(params![project, term], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
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
            write.write(params![project, term, number, bytes])?;
        }
    }
    Ok(())
}

/// Returns the error for a block that cannot be read.
pub(super) fn bad_block(number: impl std::fmt::Display) -> Failure {
    Failure::Damaged(format!(
        "block {number} of the index cannot be read: `heirloom doctor --repair` rebuilds the index"
    ))
}

//! Merging the tail into blocks.
//!
//! A merge touches a block of nearly every stem that is in the tail, whoever waits for it. So a process of many
//! threads puts it off until nobody writes, as long as the tail does not grow too long.

use super::super::failure::Failure;
use super::{entries, meanings, pieces};
use heirloom_index::block::{self, Block, Posting};
use heirloom_index::words::Term;
use rusqlite::{Connection, OptionalExtension, params};

/// Rows of a tail at which it is merged: more in a large index, where a merge touches more blocks.
fn tail_max(texts: u32) -> u32 {
    match texts {
        0..100_000 => 256,
        100_000..1_000_000 => 512,
        _ => 1_024,
    }
}

/// Rows of the longest tail: whoever puts its merge off reads it with every question. Of so many writes, less than one
/// in a hundred waits for the merge.
const TAIL_LONGEST: u32 = 16_384;
/// Rows that are merged at once: what is kept in memory meanwhile.
const ROWS_AT_ONCE: u32 = 4_096;

/// How much of an index is not merged yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) texts: u32,
    pub(super) merged: u32,
}

impl Waiting {
    /// Of a project; none if it has no index.
    pub(super) fn of(connection: &Connection, project: i64) -> Result<Option<Self>, Failure> {
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

    /// Whether it is time for a merge.
    pub(super) fn is_long(self) -> bool {
        self.rows() >= tail_max(self.texts)
    }

    /// Whether a merge cannot be put off.
    pub(super) fn is_too_long(self) -> bool {
        self.rows() >= TAIL_LONGEST
    }
}

/// Postings on their way into blocks: a stem, the ordinal of a text, a code.
pub(super) type Pending = (Term, u32, u8);

/// Merges the whole tail of a project.
pub(super) fn merge(connection: &Connection, project: i64) -> Result<(), Failure> {
    while merge_part(connection, project)? {}
    Ok(())
}

/// Merges the oldest rows of a project's tail. Whether there are more.
pub(super) fn merge_part(connection: &Connection, project: i64) -> Result<bool, Failure> {
    let mut pending: Vec<Pending> = Vec::new();
    let mut meanings = meanings::Pending::default();
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
            meanings.add(row.get_ref(3)?.as_blob().unwrap_or(&[]), counted);
            first.get_or_insert(ordinal);
            next = ordinal + 1;
            count += 1;
        }
    }
    let Some(first) = first else {
        return Ok(false);
    };
    write(connection, project, &mut pending)?;
    meanings.write(connection, project, first)?;
    connection
        .prepare_cached("DELETE FROM tail WHERE project = ?1 AND ordinal < ?2")?
        .execute(params![project, next])?;
    let sql = "UPDATE index_totals SET merged = ?2 WHERE project = ?1";
    connection
        .prepare_cached(sql)?
        .execute(params![project, next])?;
    Ok(count == ROWS_AT_ONCE)
}

/// Writes postings, whose ordinals are higher than all in blocks, behind those that are there.
pub(super) fn write(
    connection: &Connection,
    project: i64,
    pending: &mut [Pending],
) -> Result<(), Failure> {
    pending.sort_unstable();
    let newest = "SELECT block, data FROM postings WHERE project = ?1 AND term = ?2 \
         ORDER BY block DESC LIMIT 1";
    let mut newest = connection.prepare_cached(newest)?;
    let write =
        "INSERT OR REPLACE INTO postings (project, term, block, data) VALUES (?1, ?2, ?3, ?4)";
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
        for (number, bytes) in block::append(before, &postings) {
            write.execute(params![project, term, number, bytes])?;
        }
    }
    Ok(())
}

/// What is said of a block that cannot be read.
pub(super) fn bad_block(number: impl std::fmt::Display) -> Failure {
    Failure::Damaged(format!(
        "block {number} of the index cannot be read: `heirloom doctor --repair` builds the index anew"
    ))
}

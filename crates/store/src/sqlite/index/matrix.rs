//! The vectors of a project in memory, for a process that is asked again.
//!
//! Rows never change but where an index is built anew, which its generation tells; so a process reads only what
//! is new. The first questions of a process read the rows where they are: they may be its only ones.

use super::super::failure::Failure;
use super::embedded::{self, BLOCK as BLOCK_OF_OTHERS, Head};
use super::meanings::{BLOCK, key};
use super::{Epoch, Index};
use heirloom_index::vector::{AnyQuestion, ROW_BYTES, Rows};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most memory for vectors of all projects together, bytes: a million of them.
const BYTES_MAX: usize = 280 << 20;
/// Questions that read the rows where they are: a command asks two or three, and then ends.
const QUESTIONS_IN_PLACE: u32 = 3;

/// The matrices that a process keeps, by project.
#[derive(Debug, Default)]
pub(in super::super) struct Matrices {
    kept: BTreeMap<i64, Kept>,
    /// Of other models.
    others: BTreeMap<i64, OtherMatrix>,
    /// Counts questions, so that the matrix that was not asked for the longest goes first.
    questions: u64,
}

#[derive(Debug, Default)]
struct Kept {
    matrix: Arc<Matrix>,
    asked: u64,
    times: u32,
}

/// The built-in vectors of a project that are merged, and what their pieces count.
#[derive(Debug, Default, Clone)]
pub(super) struct Matrix {
    epoch: Epoch,
    /// In the order of the ordinals.
    pub(super) rows: Rows,
    /// How many texts have each piece.
    pub(super) counts: Vec<u8>,
}

/// Vectors of another model, which come and go: they are kept as long as nobody writes any.
#[derive(Debug, Default)]
struct OtherMatrix {
    epoch: Epoch,
    serial: u64,
    blocks: Vec<(u32, Vec<u8>)>,
    was_asked: bool,
}

impl Matrices {
    /// The cosine of the question to each vector of the head's model, in order of the ordinals; none where
    /// there is none.
    pub(super) fn scores_of_other(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
        head: &Head,
        question: &AnyQuestion,
    ) -> Result<Vec<Option<f32>>, Failure> {
        let texts = index.texts() as usize;
        let mut scores = Vec::with_capacity(texts);
        let mut score = |block: u32, bytes: &[u8]| {
            scores.resize((block * BLOCK_OF_OTHERS) as usize, None);
            question.scores(bytes, &mut scores);
        };
        let kept = self.others.entry(project).or_default();
        let is_known = (kept.epoch, kept.serial) == (index.epoch(), head.serial);
        if !kept.was_asked {
            kept.was_asked = true;
            embedded::each_block(connection, project, score)?;
        } else {
            if !is_known || kept.blocks.is_empty() {
                kept.blocks.clear();
                (kept.epoch, kept.serial) = (index.epoch(), head.serial);
                embedded::each_block(connection, project, |block, bytes| {
                    kept.blocks.push((block, bytes.to_vec()));
                })?;
            }
            for (block, bytes) in &kept.blocks {
                score(*block, bytes);
            }
            let bytes: usize = kept.blocks.iter().map(|(_, bytes)| bytes.len()).sum();
            // One project alone may be too large to be kept.
            if bytes > BYTES_MAX {
                kept.blocks = Vec::new();
            }
        }
        scores.resize(texts, None);
        Ok(scores)
    }

    /// The built-in vectors as this state of the index has them, at least; none for the first questions of
    /// a process, which read them where they are.
    pub(super) fn current(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<Option<Arc<Matrix>>, Failure> {
        self.questions += 1;
        let kept = self.kept.entry(project).or_default();
        let is_warm = kept.times >= QUESTIONS_IN_PLACE;
        kept.times = kept.times.saturating_add(1);
        kept.asked = self.questions;
        if !is_warm {
            return Ok(None);
        }
        let merged = index.merged as usize;
        if kept.matrix.epoch != index.epoch() || kept.matrix.rows.len() < merged {
            // A copy, if another question is at it.
            let matrix = Arc::make_mut(&mut kept.matrix);
            matrix.refresh(connection, project, index)?;
            self.make_room(project);
        }
        let kept = self.kept.get(&project);
        Ok(kept.map(|kept| Arc::clone(&kept.matrix)))
    }

    fn make_room(&mut self, asked: i64) {
        let bytes = |kept: &BTreeMap<i64, Kept>| -> usize {
            kept.values().map(|one| one.matrix.bytes()).sum()
        };
        while bytes(&self.kept) > BYTES_MAX {
            let others = self
                .kept
                .iter_mut()
                .filter(|(project, one)| **project != asked && !one.matrix.rows.is_empty());
            let Some((_, oldest)) = others.min_by_key(|(_, one)| one.asked) else {
                return;
            };
            oldest.matrix = Arc::default();
        }
    }
}

impl Matrix {
    fn bytes(&self) -> usize {
        self.rows.bytes()
    }

    /// Reads what is new.
    fn refresh(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<(), Failure> {
        if self.epoch != index.epoch() {
            *self = Self {
                epoch: index.epoch(),
                ..Self::default()
            };
        }
        // The last block that is known may have grown since.
        let from = u32::try_from(self.rows.len()).unwrap_or(u32::MAX) / BLOCK;
        let mut known = self.rows.len() % BLOCK as usize * ROW_BYTES;
        each_block(connection, project, from, |bytes| {
            self.rows.extend(bytes.get(known..).unwrap_or(&[]));
            known = 0;
        })?;
        self.counts = super::meanings::counts(connection, project)?;
        Ok(())
    }
}

/// Calls `each` with the rows of every block from `from` on.
pub(super) fn each_block(
    connection: &Connection,
    project: i64,
    from: u32,
    mut each: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    let sql = "SELECT data FROM vectors WHERE id >= ?1 AND id < ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![key(project, from), key(project + 1, 0)])?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(0)?.as_blob().unwrap_or(&[]);
        let whole = bytes.len() / ROW_BYTES * ROW_BYTES;
        each(bytes.get(..whole).unwrap_or(&[]));
    }
    Ok(())
}

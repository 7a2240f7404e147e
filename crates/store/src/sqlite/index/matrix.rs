//! The vectors of a project in memory, for a process that is asked again.
//!
//! Rows never change but where an index is built anew, which its generation tells; so a process reads only what
//! is new. The first question of a process reads the rows where they are: it may be its only one.

use super::super::failure::Failure;
use super::Index;
use super::embedded::{self, BLOCK as BLOCK_OF_OTHERS, Head};
use super::meanings::{BLOCK, key};
use heirloom_index::vector::{AnyQuestion, Question, ROW_BYTES};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Most memory for vectors of all projects together, bytes: a million of them.
const BYTES_MAX: usize = 280 << 20;

/// The matrices that a process keeps, by project.
#[derive(Debug, Default)]
pub(in super::super) struct Matrices {
    kept: BTreeMap<i64, Matrix>,
    /// Of other models.
    others: BTreeMap<i64, OtherMatrix>,
    /// Counts questions, so that the matrix that was not asked for the longest goes first.
    questions: u64,
}

#[derive(Debug, Default)]
struct Matrix {
    generation: i64,
    rows: Vec<u8>,
    asked: u64,
}

/// Vectors of another model, which come and go: they are kept as long as nobody writes any.
#[derive(Debug, Default)]
struct OtherMatrix {
    generation: i64,
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
        let is_known = (kept.generation, kept.serial) == (index.generation, head.serial);
        if !kept.was_asked {
            kept.was_asked = true;
            embedded::each_block(connection, project, score)?;
        } else {
            if !is_known || kept.blocks.is_empty() {
                kept.blocks.clear();
                (kept.generation, kept.serial) = (index.generation, head.serial);
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

    /// The cosine of the question to each vector in blocks, in order of the ordinals.
    pub(super) fn scores(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
        question: &Question,
    ) -> Result<Vec<f32>, Failure> {
        self.questions += 1;
        let mut scores = Vec::with_capacity(index.texts() as usize);
        let kept = self.kept.entry(project).or_default();
        let is_first = kept.asked == 0;
        kept.asked = self.questions;
        if is_first {
            kept.generation = index.generation;
            each_block(connection, project, 0, index, |bytes| {
                question.scores(bytes, &mut scores)
            })?;
            return Ok(scores);
        }
        if kept.generation != index.generation {
            kept.generation = index.generation;
            kept.rows.clear();
        }
        // The last block may have grown since.
        let whole = kept.rows.len() / ROW_BYTES / BLOCK as usize;
        kept.rows.truncate(whole * BLOCK as usize * ROW_BYTES);
        let from = u32::try_from(whole).unwrap_or(u32::MAX);
        each_block(connection, project, from, index, |bytes| {
            kept.rows.extend_from_slice(bytes)
        })?;
        question.scores(&kept.rows, &mut scores);
        self.make_room(project);
        Ok(scores)
    }

    fn make_room(&mut self, asked: i64) {
        let bytes =
            |kept: &BTreeMap<i64, Matrix>| kept.values().map(|one| one.rows.len()).sum::<usize>();
        while bytes(&self.kept) > BYTES_MAX {
            let others = self
                .kept
                .iter()
                .filter(|(project, one)| **project != asked && !one.rows.is_empty());
            let Some(oldest) = others
                .min_by_key(|(_, one)| one.asked)
                .map(|(project, _)| *project)
            else {
                return;
            };
            if let Some(one) = self.kept.get_mut(&oldest) {
                one.rows = Vec::new();
            }
        }
    }
}

/// Calls `each` with the rows of every block from `from` on, no more than there are.
fn each_block(
    connection: &Connection,
    project: i64,
    from: u32,
    index: &Index,
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
    debug_assert!(index.merged <= index.texts());
    Ok(())
}

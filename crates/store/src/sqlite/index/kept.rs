//! What a process that is asked again keeps of a project's words: its tail, and the postings that were asked for.
//!
//! Both stand until the tail is merged or the index is built anew. The first question of a process keeps nothing:
//! it may be its only one.

use super::super::failure::Failure;
use super::tail::{self, Tail};
use super::{Epoch, Index, entries, pieces};
use heirloom_index::words::Term;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// What the postings of a text take, bytes; as much is kept as the texts of the projects that are asked have.
const TEXT_BYTES: usize = 64;
/// Least and most memory for postings of all projects together, bytes: those of 100,000 and of 1,500,000 texts.
const POSTINGS_BYTES: RangeInclusive<usize> = 6 << 20..=96 << 20;

/// The blocks of a stem as they are stored, newest first.
pub(super) type Blocks = Vec<Box<[u8]>>;

/// What is kept, by project.
#[derive(Debug, Default)]
pub(in super::super) struct Words {
    projects: BTreeMap<i64, Kept>,
    bytes: usize,
}

/// The words of one project.
#[derive(Debug, Default)]
struct Kept {
    was_asked: bool,
    epoch: Epoch,
    merged: u32,
    /// The blocks of a stem as they are stored, newest first.
    postings: HashMap<i64, Arc<Blocks>>,
    tail: KeptTail,
}

/// The tail up to some text, by stem and by piece.
#[derive(Debug, Default)]
struct KeptTail {
    /// The first text behind what is known.
    next: u32,
    postings: HashMap<Term, Vec<(u32, u8)>>,
    counts: HashMap<u16, u32>,
    vectors: Arc<Vec<u8>>,
}

impl Words {
    /// What the tail has of these terms and pieces.
    pub(super) fn tail(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
        terms: &[Term],
        asked: &[u16],
    ) -> Result<Tail, Failure> {
        let kept = self.projects.entry(project).or_default();
        if !kept.was_asked {
            return Tail::read(connection, project, terms, asked);
        }
        if (kept.epoch, kept.merged) != (index.epoch(), index.merged) {
            self.bytes -= kept.bytes();
            *kept = Kept::at(index);
        }
        if kept.tail.next > index.texts() {
            // Another connection knows of later texts than this one's snapshot.
            return Tail::read(connection, project, terms, asked);
        }
        kept.tail.read(connection, project, index)?;
        Ok(kept.tail.about(terms, asked))
    }

    /// The blocks of a stem that are kept of this state of the index.
    fn known(&self, project: i64, index: &Index, key: i64) -> Option<Arc<Blocks>> {
        let kept = self.projects.get(&project)?;
        let is_it = (kept.epoch, kept.merged) == (index.epoch(), index.merged);
        kept.postings.get(&key).filter(|_| is_it).map(Arc::clone)
    }

    /// Keeps the blocks of a stem for the next question, if they are of the state that is kept.
    fn keep(&mut self, project: i64, index: &Index, key: i64, blocks: &Arc<Blocks>) {
        let is_it = |kept: &&mut Kept| {
            kept.was_asked && (kept.epoch, kept.merged) == (index.epoch(), index.merged)
        };
        let Some(kept) = self.projects.get_mut(&project).filter(is_it) else {
            return;
        };
        if kept.postings.insert(key, Arc::clone(blocks)).is_none() {
            self.bytes += size(blocks);
        }
        if self.bytes > self.bytes_max() {
            self.bytes = 0;
            for kept in self.projects.values_mut() {
                kept.postings = HashMap::new();
            }
        }
    }

    /// How much of all projects may be kept.
    fn bytes_max(&self) -> usize {
        let texts = self.projects.values().map(|kept| kept.merged as usize);
        let bytes = texts.sum::<usize>().saturating_mul(TEXT_BYTES);
        bytes.clamp(*POSTINGS_BYTES.start(), *POSTINGS_BYTES.end())
    }

    /// A question was answered: the next one is worth keeping something for.
    pub(super) fn was_asked(&mut self, project: i64, index: &Index) {
        let kept = self.projects.entry(project).or_default();
        if !kept.was_asked {
            *kept = Kept::at(index);
        }
    }
}

impl Kept {
    /// Nothing yet, of this state of the index.
    fn at(index: &Index) -> Self {
        Self {
            was_asked: true,
            epoch: index.epoch(),
            merged: index.merged,
            tail: KeptTail {
                next: index.merged,
                ..KeptTail::default()
            },
            ..Self::default()
        }
    }

    fn bytes(&self) -> usize {
        self.postings.values().map(|blocks| size(blocks)).sum()
    }
}

/// The blocks of a stem, newest first; where `is_enough` says so of the newest, it may be the only one. Nobody
/// waits for who reads them.
pub(super) fn blocks(
    kept: &Mutex<Words>,
    connection: &Connection,
    project: i64,
    index: &Index,
    key: i64,
    is_enough: impl Fn(&[u8]) -> bool,
) -> Result<Arc<Blocks>, Failure> {
    let words = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let known = words.known(project, index, key);
    drop(words);
    if let Some(blocks) = known {
        return Ok(blocks);
    }
    let sql = "SELECT data FROM postings WHERE project = ?1 AND term = ?2 ORDER BY block DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![project, key])?;
    let mut blocks = Blocks::new();
    while let Some(row) = rows.next()? {
        let block = row.get_ref(0)?.as_blob().unwrap_or(&[]);
        blocks.push(Box::from(block));
        if blocks.len() == 1 && is_enough(block) {
            return Ok(Arc::new(blocks));
        }
    }
    let blocks = Arc::new(blocks);
    let mut words = kept.lock().unwrap_or_else(PoisonError::into_inner);
    words.keep(project, index, key, &blocks);
    Ok(blocks)
}

fn size(blocks: &[Box<[u8]>]) -> usize {
    blocks
        .iter()
        .map(|block| block.len() + size_of::<Box<[u8]>>())
        .sum()
}

impl KeptTail {
    /// Reads what is new.
    fn read(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<(), Failure> {
        if self.next >= index.texts() {
            return Ok(());
        }
        // A copy, if a question is at it.
        let vectors = Arc::make_mut(&mut self.vectors);
        tail::each_row(connection, project, self.next, |ordinal, row| {
            for (term, code) in entries(row.terms) {
                self.postings.entry(term).or_default().push((ordinal, code));
            }
            for piece in pieces(row.pieces) {
                *self.counts.entry(piece).or_default() += 1;
            }
            vectors.extend_from_slice(row.vector);
            self.next = ordinal + 1;
        })
    }

    fn about(&self, terms: &[Term], asked: &[u16]) -> Tail {
        let of_term = |term| self.postings.get(term).cloned().unwrap_or_default();
        let counts = asked.iter().map(|piece| {
            let count = self.counts.get(piece).copied();
            (*piece, count.unwrap_or_default())
        });
        let vectors = match asked {
            [] => Arc::default(),
            _ => Arc::clone(&self.vectors),
        };
        Tail::of(terms.iter().map(of_term).collect(), counts, vectors)
    }
}

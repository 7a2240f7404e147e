//! What vectors say: how near every text is to a question.
//!
//! Where there are many, a first look at the sketch of each tells which are worth a second one, at its numbers. The
//! scores that rank are exact whichever way they were come by, so a process that is asked for the first time
//! answers as one that has been asked before.

use super::super::failure::Failure;
use super::Index;
use super::beside::{self, Beside};
use super::embedded::{self, Head};
use super::matrix::{Matrices, Matrix};
use super::meanings::BLOCK;
use super::tail::Tail;
use crate::{Search, VectorsOf};
use heirloom_index::pieces::count_in;
use heirloom_index::score::{Spread, best};
use heirloom_index::vector::{AnyQuestion, Question, ROW_BYTES, Rough, Sketches};
use heirloom_model::limits::{EMBEDDING_MISSING_ONE_IN, VECTORS_BESIDE_LAG};
use rusqlite::Connection;
use std::sync::{Arc, Mutex, PoisonError};

/// Up to so many texts, every one is looked at whole.
const WHOLE_MAX: u32 = 8_192;
/// Up to so many sketches in a file, one thread has looked at them before a second one has begun.
const ALONE_MAX: u32 = 32_768;
/// Where not all are looked at whole, the spread of scores is taken from so many places, and so many texts at each:
/// what lies together is read together.
const SAMPLE_PLACES: u32 = 64;
const SAMPLE_TEXTS: u32 = 16;

/// How many of the best at first look are looked at whole. Of the true first 50 among 100,000 it misses three.
fn second_looks(texts: usize) -> usize {
    (texts / 32).clamp(128, 512).max(texts / 512)
}

/// What the vectors of one model say.
pub(super) struct Near {
    /// A score for each text; of those that [`Near::settle`] was called for it is exact.
    scores: Vec<f32>,
    exact: Exact,
    spread: Spread,
    /// Texts without a vector, where not every text has one: their score is the mean, which says nothing.
    lack: Vec<bool>,
    /// Which model's they are.
    pub(super) by: VectorsOf,
    /// How many texts have no vector of the model that was asked for.
    pub(super) unembedded: u64,
}

/// Where exact scores come from.
enum Exact {
    /// All are.
    All,
    /// They are worked out of the vectors in memory.
    Kept(Arc<Matrix>, Box<Question>),
    /// Of those in a file; what lies behind has them already.
    Beside(Option<Beside>, Vec<f32>, Box<Question>),
}

/// A question to the vectors of one model, before any is looked at.
pub(super) struct Asking {
    near: Near,
    look: Option<Look>,
}

/// What a look at the built-in vectors needs.
struct Look {
    question: Question,
    rough: Rough,
    /// The vectors, in a process that was asked before.
    kept: Option<Arc<Matrix>>,
    /// Or a part of them in a file.
    beside: Option<Beside>,
}

impl Asking {
    /// Chooses the model: the one that is asked for if nearly every text has a vector of it, else the built-in one,
    /// of which all have one.
    pub(super) fn of(
        connection: &Connection,
        project: i64,
        index: &Index,
        search: &Search,
        pieces: &[u16],
        tail: &Tail,
        matrices: &Mutex<Matrices>,
    ) -> Result<Self, Failure> {
        let mut unembedded = 0;
        if let Some(asked) = &search.vector {
            let head = Head::read(connection, project, index.generation)?;
            let head = head.filter(|head| head.model == asked.model);
            let (missing, texts) = embedded::missing(connection, project, index, head.as_ref())?;
            unembedded = missing;
            let question = AnyQuestion::of(&asked.numbers);
            let is_whole = missing * EMBEDDING_MISSING_ONE_IN <= texts;
            if let (Some(head), Some(question)) = (head, question)
                && is_whole
                && head.dims == question.dims()
            {
                let mut kept = matrices.lock().unwrap_or_else(PoisonError::into_inner);
                let scores = kept.scores_of_other(connection, project, index, &head, &question)?;
                return Ok(Self {
                    near: Near::by_model(&scores, missing),
                    look: None,
                });
            }
        }
        let mut near = Near::silent(unembedded);
        let mut look = None;
        if search.meaning.is_some() {
            near.by = VectorsOf::BuiltIn;
            look = Look::of(connection, project, index, pieces, tail, matrices)?;
        }
        Ok(Self { near, look })
    }

    /// Looks at what is in a file while `work` asks the database; the scores of as many texts as it has.
    pub(super) fn meanwhile<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<f32>) {
        let look = self.look.as_ref();
        let Some((look, beside)) = look.and_then(|look| Some((look, look.beside.as_ref()?))) else {
            return (work(), Vec::new());
        };
        let mut scores = vec![0.0; beside.rows() as usize];
        let scan = beside.scan(&look.rough, &mut scores);
        let (done, is_whole) = std::thread::scope(|scope| {
            let other = (beside.rows() > ALONE_MAX).then(|| scope.spawn(|| scan.work()));
            let done = work();
            scan.work();
            let is_well = other.is_none_or(|other| other.join().is_ok());
            (done, is_well && scan.is_whole())
        });
        drop(scan);
        (done, if is_whole { scores } else { Vec::new() })
    }

    /// Looks at whatever was not looked at meanwhile.
    pub(super) fn end(
        self,
        connection: &Connection,
        project: i64,
        index: &Index,
        tail: &Tail,
        known: Vec<f32>,
    ) -> Result<Near, Failure> {
        let mut near = self.near;
        if let Some(look) = self.look {
            near.look(connection, project, index, tail, look, known)?;
        }
        Ok(near)
    }
}

impl Look {
    fn of(
        connection: &Connection,
        project: i64,
        index: &Index,
        pieces: &[u16],
        tail: &Tail,
        matrices: &Mutex<Matrices>,
    ) -> Result<Option<Self>, Failure> {
        let kept = matrices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .current(connection, project, index)?;
        let counts = match &kept {
            Some(kept) => &kept.counts,
            None => &super::meanings::counts(connection, project)?,
        };
        let df = |piece| count_in(counts, piece) + tail.count(piece);
        let Some(question) = Question::of_pieces(pieces, index.texts(), df) else {
            return Ok(None);
        };
        let beside = match &kept {
            None if index.merged >= VECTORS_BESIDE_LAG => Beside::open(connection, project, index)?,
            None | Some(_) => None,
        };
        Ok(Some(Self {
            rough: Rough::of(&question),
            question,
            kept,
            beside,
        }))
    }

    /// Adds to what a look at the file says of the first rows what the database has behind them; gives the exact
    /// scores of those.
    fn behind(
        &self,
        connection: &Connection,
        project: i64,
        index: &Index,
        scores: &mut Vec<f32>,
    ) -> Result<Vec<f32>, Failure> {
        let first = u32::try_from(scores.len()).unwrap_or(u32::MAX);
        let mut exact = Vec::new();
        if first >= index.merged {
            return Ok(exact);
        }
        let mut known = (first % BLOCK) as usize * ROW_BYTES;
        super::matrix::each_block(connection, project, first / BLOCK, |bytes| {
            let fresh = bytes.get(std::mem::take(&mut known)..).unwrap_or(&[]);
            self.question.scores(fresh, &mut exact);
            let mut drawn = Sketches::default();
            drawn.extend(fresh);
            let from = scores.len();
            scores.resize(from + drawn.len(), 0.0);
            let behind = scores.get_mut(from..).unwrap_or_default();
            self.rough.scores(drawn.blocks(), behind);
        })?;
        if beside::lags(first, index.merged) {
            beside::write(connection, project, index)?;
        }
        Ok(exact)
    }
}

impl Near {
    /// What says nothing of any text.
    fn silent(unembedded: u64) -> Self {
        Self {
            scores: Vec::new(),
            exact: Exact::All,
            spread: Spread::of(&[], 0),
            lack: Vec::new(),
            by: VectorsOf::Nothing,
            unembedded,
        }
    }

    fn by_model(scores: &[Option<f32>], unembedded: u64) -> Self {
        let known: Vec<f32> = scores.iter().flatten().copied().collect();
        let spread = Spread::of(&known, known.len() as u64);
        let scored = scores.iter().map(|score| score.unwrap_or(spread.mean()));
        Self {
            scores: scored.collect(),
            exact: Exact::All,
            spread,
            lack: scores.iter().map(Option::is_none).collect(),
            by: VectorsOf::Model,
            unembedded,
        }
    }

    /// The first look at every built-in vector.
    fn look(
        &mut self,
        connection: &Connection,
        project: i64,
        index: &Index,
        tail: &Tail,
        look: Look,
        mut scores: Vec<f32>,
    ) -> Result<(), Failure> {
        let merged = index.merged as usize;
        let exact = match &look.kept {
            Some(kept) => {
                // With room for the tail: this is the largest thing that a question needs.
                scores = Vec::with_capacity(index.texts() as usize);
                scores.resize(merged.min(kept.rows.len()), 0.0);
                (look.rough).scores(kept.rows.sketches().blocks(), &mut scores);
                Exact::Kept(Arc::clone(kept), Box::new(look.question.clone()))
            }
            None => {
                let is_read = !scores.is_empty();
                let behind = look.behind(connection, project, index, &mut scores)?;
                let beside = look.beside.filter(|_| is_read);
                Exact::Beside(beside, behind, Box::new(look.question.clone()))
            }
        };
        (self.scores, self.exact) = (scores, exact);
        // Whatever a damaged index says, texts of the tail have their own places.
        self.scores.resize(merged, 0.0);
        look.question.scores(&tail.vectors, &mut self.scores);
        self.spread = self.spread_of_all(index.texts());
        Ok(())
    }

    fn spread_of_all(&mut self, texts: u32) -> Spread {
        if texts <= WHOLE_MAX {
            let all: Vec<u32> = (0..texts).collect();
            self.settle(&all);
            self.exact = Exact::All;
            return Spread::of(&self.scores, u64::from(texts));
        }
        let apart = texts / SAMPLE_PLACES;
        let sample: Vec<u32> = (0..SAMPLE_PLACES)
            .flat_map(|place| place * apart..place * apart + SAMPLE_TEXTS)
            .collect();
        self.settle(&sample);
        let scores: Vec<f32> = sample.iter().map(|ordinal| self.at(*ordinal)).collect();
        Spread::of(&scores, scores.len() as u64)
    }

    /// Makes the scores of these texts exact.
    pub(super) fn settle(&mut self, ordinals: &[u32]) {
        match &self.exact {
            Exact::All => {}
            Exact::Kept(matrix, question) => {
                question.exact_scores(&matrix.rows, ordinals, &mut self.scores);
            }
            Exact::Beside(beside, behind, question) => {
                let first = beside.as_ref().map_or(0, Beside::rows) as usize;
                for at in ordinals.iter().map(|ordinal| *ordinal as usize) {
                    let exact = at.checked_sub(first).and_then(|at| behind.get(at));
                    if let (Some(score), Some(exact)) = (self.scores.get_mut(at), exact) {
                        *score = *exact;
                    }
                }
                if let Some(beside) = beside {
                    beside.exact_scores(question, ordinals, &mut self.scores);
                }
            }
        }
    }

    /// The nearest texts that are wanted; their scores are exact.
    pub(super) fn best(&mut self, count: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let place_of = |place| u32::try_from(place).unwrap_or(u32::MAX);
        let wanted =
            |place: usize| self.lack.get(place) != Some(&true) && is_wanted(place_of(place));
        let looks = match self.exact {
            Exact::All => count,
            Exact::Kept(..) | Exact::Beside(..) => second_looks(self.scores.len()).max(count),
        };
        let found = best(&self.scores, looks, wanted);
        let mut ordinals: Vec<u32> = found.iter().map(|(place, _)| place_of(*place)).collect();
        if looks > count {
            self.settle(&ordinals);
            let nearer = |a: &u32, b: &u32| self.at(*b).total_cmp(&self.at(*a)).then(a.cmp(b));
            ordinals.sort_unstable_by(nearer);
            ordinals.truncate(count);
        }
        ordinals
    }

    /// How near a text is; exact once it is settled.
    pub(super) fn at(&self, ordinal: u32) -> f32 {
        self.scores.get(ordinal as usize).copied().unwrap_or(0.0)
    }

    /// The cosine of a text that is settled; 0 for one without a vector.
    pub(super) fn cosine(&self, ordinal: u32) -> f32 {
        match self.lack.get(ordinal as usize) {
            Some(true) => 0.0,
            Some(false) | None => self.at(ordinal),
        }
    }

    /// How many deviations a settled text is nearer than others.
    pub(super) fn z(&self, ordinal: u32) -> f32 {
        match self.scores.get(ordinal as usize) {
            Some(score) => self.spread.z(*score),
            None => 0.0,
        }
    }
}

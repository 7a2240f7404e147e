//! Vector search: the similarity of every text to a query.
//!
//! In a large index a first pass over the sketches selects the candidates whose full vectors are compared. Final
//! scores are always exact, so cold and warm processes return identical results.

use super::background_work::run_both;
use super::external_vectors::{self, ExternalHeader};
use super::index_state::IndexState;
use super::project_cache::{ProjectCache, ProjectVectors, read_vectors, score_external_vectors};
use super::tail::Tail;
use super::vector_blocks::{self, BLOCK};
use super::vector_sidecar::{self, VectorSidecar};
use crate::lane::LaneKey;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::{SearchQuery, VectorSource};
use heirloom_model::limits::{EMBEDDING_MISSING_ONE_IN, SIDECAR_LAG_VECTORS};
use heirloom_search::index::bm25::{ScoreStats, top_scores};
use heirloom_search::index::vector::{
    ExternalQueryVector, QueryVector, ROW_BYTES, SketchQuery, Sketches,
};
use heirloom_search::index::word_pieces::count_in;
use std::sync::Arc;

/// Number of texts up to which every vector is compared exactly.
const EXACT_MAX: u32 = 8_192;
/// Below this many sketches a single-threaded scan is faster than spawning a helper.
const SINGLE_THREAD_MAX: u32 = 32_768;
/// Sample for the score statistics of a large index: number of places, and consecutive texts at each, which are read
/// together.
const SAMPLE_PLACES: u32 = 64;
const SAMPLE_TEXTS: u32 = 16;

/// Returns the number of best sketches whose full vectors are compared. Of the true best 50 among 100,000, three are
/// missed.
fn exact_candidates(texts: usize) -> usize {
    (texts / 32).clamp(128, 512).max(texts / 512)
}

/// Similarity scores of all texts by the vectors of one model.
pub(super) struct VectorScores {
    /// Score of each text; exact after [`VectorScores::make_exact`].
    scores: Vec<f32>,
    exact: Exact,
    spread: ScoreStats,
    /// Marks texts without a vector, if some have none: their score is the mean, so it does not affect the ranking.
    lacks_vector: Vec<bool>,
    /// Source of the vectors.
    pub(super) source: VectorSource,
    /// Number of texts without a vector of the requested model.
    pub(super) unembedded: u64,
}

/// Source of exact scores.
enum Exact {
    /// All scores are exact.
    All,
    /// Cached vectors.
    Cached(Arc<ProjectVectors>, Box<QueryVector>),
    /// Vectors in the sidecar file, and the exact scores of the rows after it.
    Sidecar(Option<VectorSidecar>, Vec<f32>, Box<QueryVector>),
}

/// Vector query before any vector was compared.
pub(super) struct VectorQuery {
    similarity: VectorScores,
    plan: Option<ScanPlan>,
}

/// Data for a scan of the built-in vectors.
struct ScanPlan {
    query: QueryVector,
    sketch_query: SketchQuery,
    /// Cached vectors, in a warm process.
    cached: Option<Arc<ProjectVectors>>,
    /// Otherwise the sidecar file, which has a prefix of the vectors.
    sidecar: Option<VectorSidecar>,
}

impl VectorQuery {
    /// Chooses the model: the requested external one if nearly every text has a vector of it, else the built-in one.
    pub(super) fn of(
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        search: &SearchQuery,
        pieces: &[u16],
        tail: &Tail,
        cache: &ProjectCache,
    ) -> Result<Self, Failure> {
        let mut unembedded = 0;
        if let Some(requested) = &search.vector {
            let head = ExternalHeader::read(connection, lane, index.generation)?;
            let head = head.filter(|head| head.model == requested.model);
            let (missing, texts) =
                external_vectors::count_missing(connection, lane, index, head.as_ref())?;
            unembedded = missing;
            let query = ExternalQueryVector::of(&requested.numbers);
            let is_complete = missing * EMBEDDING_MISSING_ONE_IN <= texts;
            if let (Some(head), Some(query)) = (head, query)
                && is_complete
                && head.dims == query.dims()
            {
                let scores = score_external_vectors(cache, connection, lane, index, &head, &query)?;
                return Ok(Self {
                    similarity: VectorScores::by_model(&scores, missing),
                    plan: None,
                });
            }
        }
        let mut similarity = VectorScores::empty(unembedded);
        let mut plan = None;
        if search.semantic_text.is_some() {
            similarity.source = VectorSource::BuiltIn;
            plan = ScanPlan::of(connection, lane, index, pieces, tail, cache)?;
        }
        Ok(Self { similarity, plan })
    }

    /// Scans the sidecar file while `work` queries the database; returns the scores of the file's rows.
    pub(super) fn scan_while<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<f32>) {
        let plan = self.plan.as_ref();
        let Some((plan, sidecar)) = plan.and_then(|plan| Some((plan, plan.sidecar.as_ref()?)))
        else {
            return (work(), Vec::new());
        };
        let mut scores = vec![0.0; sidecar.rows() as usize];
        let scan = sidecar.scan(&plan.sketch_query, &mut scores);
        let work = || {
            let done = work();
            scan.run();
            done
        };
        let done = match sidecar.rows() > SINGLE_THREAD_MAX {
            true => run_both(|| scan.run(), work).1,
            false => work(),
        };
        let is_complete = scan.is_complete();
        drop(scan);
        (done, if is_complete { scores } else { Vec::new() })
    }

    /// Computes the scores of the texts that are not in `known`.
    pub(super) fn finish(
        self,
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        tail: &Tail,
        known: Vec<f32>,
    ) -> Result<VectorScores, Failure> {
        let mut similarity = self.similarity;
        if let Some(plan) = self.plan {
            similarity.score_all(connection, lane, index, tail, plan, known)?;
        }
        Ok(similarity)
    }
}

impl ScanPlan {
    fn of(
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        pieces: &[u16],
        tail: &Tail,
        cache: &ProjectCache,
    ) -> Result<Option<Self>, Failure> {
        let cached = read_vectors(cache, connection, lane, index)?;
        let counts = match cached.as_ref().and_then(|cached| cached.counts(index)) {
            Some(counts) => counts,
            None => &vector_blocks::counts(connection, lane)?,
        };
        let df = |piece| count_in(counts, piece) + tail.count(piece);
        let Some(query) = QueryVector::of_pieces(pieces, index.texts(), df) else {
            return Ok(None);
        };
        let sidecar = match &cached {
            None if index.merged >= SIDECAR_LAG_VECTORS => {
                VectorSidecar::open(connection, lane, index)?
            }
            None | Some(_) => None,
        };
        Ok(Some(Self {
            sketch_query: SketchQuery::of(&query),
            query,
            cached,
            sidecar,
        }))
    }

    /// Appends to the sidecar's scores the approximate scores of the rows after it; returns the exact scores of those
    /// rows.
    fn score_after_sidecar(
        &self,
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        scores: &mut Vec<f32>,
    ) -> Result<Vec<f32>, Failure> {
        let first = u32::try_from(scores.len()).unwrap_or(u32::MAX);
        let mut exact = Vec::new();
        if first >= index.merged {
            return Ok(exact);
        }
        let mut known = (first % BLOCK) as usize * ROW_BYTES;
        vector_blocks::each_block(connection, lane, first / BLOCK, |bytes| {
            let fresh = bytes.get(std::mem::take(&mut known)..).unwrap_or(&[]);
            self.query.scores(fresh, &mut exact);
            let mut sketches = Sketches::default();
            sketches.extend(fresh);
            let from = scores.len();
            scores.resize(from + sketches.len(), 0.0);
            let rest = scores.get_mut(from..).unwrap_or_default();
            self.sketch_query.scores(sketches.blocks(), rest);
        })?;
        if vector_sidecar::is_outdated(first, index.merged) {
            vector_sidecar::write(connection, lane, index)?;
        }
        Ok(exact)
    }
}

impl VectorScores {
    /// Creates scores without any vector.
    fn empty(unembedded: u64) -> Self {
        Self {
            scores: Vec::new(),
            exact: Exact::All,
            spread: ScoreStats::of(&[], 0),
            lacks_vector: Vec::new(),
            source: VectorSource::Nothing,
            unembedded,
        }
    }

    fn by_model(scores: &[Option<f32>], unembedded: u64) -> Self {
        let known: Vec<f32> = scores.iter().flatten().copied().collect();
        let spread = ScoreStats::of(&known, known.len() as u64);
        let scored = scores.iter().map(|score| score.unwrap_or(spread.mean()));
        Self {
            scores: scored.collect(),
            exact: Exact::All,
            spread,
            lacks_vector: scores.iter().map(Option::is_none).collect(),
            source: VectorSource::Model,
            unembedded,
        }
    }

    /// Computes the approximate score of every text from the built-in vectors.
    fn score_all(
        &mut self,
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        tail: &Tail,
        plan: ScanPlan,
        mut scores: Vec<f32>,
    ) -> Result<(), Failure> {
        let merged = index.merged as usize;
        let exact = match &plan.cached {
            Some(cached) => {
                // With capacity for the tail, because this is the largest allocation of a query.
                scores = Vec::with_capacity(index.texts() as usize);
                scores.resize(merged.min(cached.rows.len()), 0.0);
                (plan.sketch_query).scores(cached.rows.sketches().blocks(), &mut scores);
                Exact::Cached(Arc::clone(cached), Box::new(plan.query.clone()))
            }
            None => {
                let is_read = !scores.is_empty();
                let rest = plan.score_after_sidecar(connection, lane, index, &mut scores)?;
                let sidecar = plan.sidecar.filter(|_| is_read);
                Exact::Sidecar(sidecar, rest, Box::new(plan.query.clone()))
            }
        };
        (self.scores, self.exact) = (scores, exact);
        // Even in a damaged index, the tail starts at the merged count.
        self.scores.resize(merged, 0.0);
        plan.query.scores(&tail.vectors, &mut self.scores);
        self.spread = self.score_statistics(index.texts());
        Ok(())
    }

    fn score_statistics(&mut self, texts: u32) -> ScoreStats {
        if texts <= EXACT_MAX {
            let all: Vec<u32> = (0..texts).collect();
            self.make_exact(&all);
            self.exact = Exact::All;
            return ScoreStats::of(&self.scores, u64::from(texts));
        }
        let apart = texts / SAMPLE_PLACES;
        let sample: Vec<u32> = (0..SAMPLE_PLACES)
            .flat_map(|place| place * apart..place * apart + SAMPLE_TEXTS)
            .collect();
        self.make_exact(&sample);
        let scores: Vec<f32> = sample.iter().map(|ordinal| self.at(*ordinal)).collect();
        ScoreStats::of(&scores, scores.len() as u64)
    }

    /// Replaces the scores of these texts by exact ones.
    pub(super) fn make_exact(&mut self, ordinals: &[u32]) {
        match &self.exact {
            Exact::All => {}
            Exact::Cached(matrix, query) => {
                query.exact_scores(&matrix.rows, ordinals, &mut self.scores);
            }
            Exact::Sidecar(sidecar, rest, query) => {
                let first = sidecar.as_ref().map_or(0, VectorSidecar::rows) as usize;
                for at in ordinals.iter().map(|ordinal| *ordinal as usize) {
                    let exact = at.checked_sub(first).and_then(|at| rest.get(at));
                    if let (Some(score), Some(exact)) = (self.scores.get_mut(at), exact) {
                        *score = *exact;
                    }
                }
                if let Some(sidecar) = sidecar {
                    sidecar.exact_scores(query, ordinals, &mut self.scores);
                }
            }
        }
    }

    /// Returns the most similar texts for which `is_wanted` returns true; their scores are exact.
    pub(super) fn best(&mut self, count: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let place_of = |place| u32::try_from(place).unwrap_or(u32::MAX);
        let wanted = |place: usize| {
            self.lacks_vector.get(place) != Some(&true) && is_wanted(place_of(place))
        };
        let candidates = match self.exact {
            Exact::All => count,
            Exact::Cached(..) | Exact::Sidecar(..) => {
                exact_candidates(self.scores.len()).max(count)
            }
        };
        let found = top_scores(&self.scores, candidates, wanted);
        let mut ordinals: Vec<u32> = found.iter().map(|(place, _)| place_of(*place)).collect();
        if candidates > count {
            self.make_exact(&ordinals);
            let nearer = |a: &u32, b: &u32| self.at(*b).total_cmp(&self.at(*a)).then(a.cmp(b));
            ordinals.sort_unstable_by(nearer);
            ordinals.truncate(count);
        }
        ordinals
    }

    /// Returns the score of a text; exact after [`VectorScores::make_exact`].
    pub(super) fn at(&self, ordinal: u32) -> f32 {
        self.scores.get(ordinal as usize).copied().unwrap_or(0.0)
    }

    /// Returns the cosine of a text with an exact score; 0 without a vector.
    pub(super) fn cosine(&self, ordinal: u32) -> f32 {
        match self.lacks_vector.get(ordinal as usize) {
            Some(true) => 0.0,
            Some(false) | None => self.at(ordinal),
        }
    }

    /// Returns the exact score of a text in standard deviations from the mean.
    pub(super) fn z(&self, ordinal: u32) -> f32 {
        match self.scores.get(ordinal as usize) {
            Some(score) => self.spread.z(*score),
            None => 0.0,
        }
    }
}

//! Scores of all texts by the vectors of the sentence transformer, which are added to those of the other arms.
//!
//! The vectors follow the texts later, so a search has to be fair to texts that have none yet: these take their score
//! in the built-in vectors instead, which are a weaker estimate of the same thing.

use super::external_vectors::ExternalHeader;
use super::index_state::IndexState;
use super::project_cache::{ProjectCache, cached_external_vectors, score_external_vectors};
use crate::SentenceQuestion;
use crate::lane::LaneKey;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_search::index::bm25::{ScoreStats, top_scores};
use heirloom_search::index::vector::{ExternalQueryVector, ExternalVectorSet};
use std::sync::Arc;

/// Mean and standard deviation of the cosines of a question with unrelated texts, which count as
/// [`PRIOR_TEXTS`] texts in the statistics: the first vectors of a project are too few for a deviation of their own.
const PRIOR_MEAN: f32 = 0.12;
const PRIOR_DEVIATION: f32 = 0.11;
/// Number of texts that the prior counts as.
const PRIOR_TEXTS: usize = 8;
/// Number of best sketches whose vectors are compared exactly.
const CANDIDATES: usize = 512;

/// Number of texts up to which every vector is compared exactly. With more, sketches select the ones that are.
const EXACT_MAX: u32 = 32_768;
/// Sample for the statistics of more texts: number of places, and texts at each.
const SAMPLE_PLACES: usize = 64;
const SAMPLE_TEXTS: usize = 16;

/// Scores by the transformer's vectors. All of them are exact; sketches only select candidates.
pub(super) struct SentenceScores {
    cosines: Cosines,
    spread: ScoreStats,
}

/// Cosine of the question with each text.
enum Cosines {
    /// All of them; negative infinity for a text without a vector.
    Known(Vec<f32>),
    /// The vectors, to compute them from.
    Computed(Arc<ExternalVectorSet>, ExternalQueryVector),
}

impl SentenceScores {
    /// Computes the question's vector and compares it with those of all texts; `None` without a question, and if no text
    /// has a vector of its model.
    pub(super) fn of(
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        question: Option<&SentenceQuestion>,
        cache: &ProjectCache,
    ) -> Result<Option<Self>, Failure> {
        let Some(question) = question else {
            return Ok(None);
        };
        let head = ExternalHeader::read(connection, lane, index.generation)?;
        let Some(head) = head.filter(|head| head.model == question.model.model()) else {
            return Ok(None);
        };
        let query = ExternalQueryVector::of(&question.compute_vector());
        let Some(query) = query.filter(|query| query.dims() == head.dims) else {
            return Ok(None);
        };
        // A process without the vectors in memory reads all of them once, so sketches would save it nothing.
        if index.texts() > EXACT_MAX
            && let Some(set) = cached_external_vectors(cache, connection, lane, index, &head)?
        {
            return Ok(Self::from_vectors(set, query));
        }
        let scores = score_external_vectors(cache, connection, lane, index, &head, &query)?;
        Ok(Self::from_cosines(&scores))
    }

    fn from_cosines(scores: &[Option<f32>]) -> Option<Self> {
        let cosine = |score: &Option<f32>| score.unwrap_or(f32::NEG_INFINITY);
        Some(Self {
            spread: spread_of(match scores.len() > EXACT_MAX as usize {
                true => sample_of(scores),
                false => scores.iter().flatten().copied().collect(),
            })?,
            cosines: Cosines::Known(scores.iter().map(cosine).collect()),
        })
    }

    fn from_vectors(set: Arc<ExternalVectorSet>, query: ExternalQueryVector) -> Option<Self> {
        let sample = set.sample(SAMPLE_PLACES, SAMPLE_TEXTS).into_iter();
        let sample = sample.filter_map(|one| set.cosine(&query, one)).collect();
        Some(Self {
            spread: spread_of(sample)?,
            cosines: Cosines::Computed(set, query),
        })
    }

    /// Returns the cosine with a text; `None` for a text without a vector.
    pub(super) fn cosine(&self, ordinal: u32) -> Option<f32> {
        match &self.cosines {
            Cosines::Known(all) => {
                let cosine = all.get(ordinal as usize).copied();
                cosine.filter(|cosine| cosine.is_finite())
            }
            Cosines::Computed(set, query) => set.cosine(query, ordinal),
        }
    }

    /// Returns the cosine with a text in standard deviations from the mean; `None` for a text without a vector.
    pub(super) fn z(&self, ordinal: u32) -> Option<f32> {
        self.cosine(ordinal).map(|cosine| self.spread.z(cosine))
    }

    /// Returns the most similar texts for which `is_wanted` returns true.
    pub(super) fn best(&self, count: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let ordinal = |place| u32::try_from(place).unwrap_or(u32::MAX);
        match &self.cosines {
            Cosines::Known(all) => {
                let found = top_scores(all, count, |place| is_wanted(ordinal(place)));
                found.into_iter().map(|(place, _)| ordinal(place)).collect()
            }
            Cosines::Computed(set, query) => {
                let found = set.candidates(query, count.max(CANDIDATES), is_wanted);
                let cosine = |one| set.cosine(query, one).map(|cosine| (one, cosine));
                let mut exact: Vec<(u32, f32)> = found.into_iter().filter_map(cosine).collect();
                exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                // As in a scan of all vectors, only texts that point the same way are similar.
                exact.retain(|(_, cosine)| *cosine > 0.0);
                exact.truncate(count);
                exact.into_iter().map(|(one, _)| one).collect()
            }
        }
    }
}

/// Returns the cosines of the texts that [`ExternalVectorSet::sample`] returns.
fn sample_of(scores: &[Option<f32>]) -> Vec<f32> {
    let blocks = scores.chunks(ExternalVectorSet::BLOCK);
    let filled: Vec<&[Option<f32>]> = blocks
        .filter(|block| block.iter().any(Option::is_some))
        .collect();
    let apart = (filled.len() / SAMPLE_PLACES).max(1);
    let sampled = filled.iter().step_by(apart);
    sampled
        .flat_map(|block| block.iter().flatten().copied().take(SAMPLE_TEXTS))
        .collect()
}

/// Computes the statistics of cosines, which the prior extends; `None` without a cosine.
fn spread_of(mut known: Vec<f32>) -> Option<ScoreStats> {
    if known.is_empty() {
        return None;
    }
    for _ in 0..PRIOR_TEXTS / 2 {
        known.extend([PRIOR_MEAN - PRIOR_DEVIATION, PRIOR_MEAN + PRIOR_DEVIATION]);
    }
    Some(ScoreStats::of(&known, known.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_search::index::vector::pack_row;

    #[test]
    fn texts_without_vector_have_no_score_and_are_never_best() {
        let scores = SentenceScores::from_cosines(&[Some(0.7), None, Some(0.1)]).unwrap();
        assert_eq!(scores.cosine(0), Some(0.7));
        assert_eq!(scores.cosine(1), None);
        assert_eq!(scores.cosine(9), None);
        assert_eq!(scores.z(1), None);
        assert_eq!(scores.best(5, |_| true), [0, 2]);
        assert_eq!(scores.best(5, |ordinal| ordinal != 0), [2]);
        assert!(SentenceScores::from_cosines(&[None, None]).is_none());
    }

    #[test]
    fn candidates_of_sketches_are_ranked_by_their_cosines() {
        let numbers = |n: u32| (0..32).map(move |k| ((n * 31 + k * 17) % 23) as f32 - 11.0);
        let rows = (0..64).flat_map(|n| pack_row(&numbers(n).collect::<Vec<_>>()).unwrap());
        let mut set = ExternalVectorSet::new(32);
        set.set_block(3, &rows.collect::<Vec<u8>>());
        let query = ExternalQueryVector::of(&numbers(5).collect::<Vec<_>>()).unwrap();
        let exact = SentenceScores::from_cosines(&set.cosines(&query, 300)).unwrap();
        let sketched = SentenceScores::from_vectors(Arc::new(set), query).unwrap();
        assert_eq!(sketched.best(9, |_| true), exact.best(9, |_| true));
        assert_eq!(sketched.best(1, |_| true), [3 * 64 + 5]);
        for ordinal in [0, 192, 200, 999] {
            assert_eq!(sketched.cosine(ordinal), exact.cosine(ordinal));
        }
    }

    #[test]
    fn sample_is_the_same_with_and_without_vectors_in_memory() {
        let mut set = ExternalVectorSet::new(2);
        let row = |n: usize| match n % 3 {
            0 => vec![0; 6],
            _ => pack_row(&[n as f32, 40.0]).unwrap(),
        };
        for block in (0..400).filter(|block| block % 5 != 1) {
            let rows: Vec<u8> = (0..64).flat_map(|n| row(n + block)).collect();
            set.set_block(block, &rows);
        }
        let query = ExternalQueryVector::of(&[1.0, 0.5]).unwrap();
        let in_memory: Vec<f32> = (set.sample(SAMPLE_PLACES, SAMPLE_TEXTS).into_iter())
            .filter_map(|one| set.cosine(&query, one))
            .collect();
        assert_eq!(sample_of(&set.cosines(&query, 400 * 64)), in_memory);
        assert!(in_memory.len() > 500);
    }

    #[test]
    fn first_vectors_of_a_project_have_a_deviation() {
        let scores = SentenceScores::from_cosines(&[Some(0.6), None]).unwrap();
        let z = scores.z(0).unwrap();
        assert!((1.0..5.0).contains(&z), "{z}");
    }
}

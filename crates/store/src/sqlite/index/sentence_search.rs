//! Scores of all texts by the vectors of the sentence transformer, which are added to those of the other arms.
//!
//! The vectors follow the texts later, so a search has to be fair to texts that have none yet: these take their score
//! in the built-in vectors instead, which are a weaker estimate of the same thing.

use super::external_vectors::ExternalHeader;
use super::index_state::IndexState;
use super::project_cache::{ProjectCache, score_external_vectors};
use crate::ModelVector;
use crate::sqlite::error_conversion::Failure;
use heirloom_search::index::bm25::{ScoreStats, top_scores};
use heirloom_search::index::vector::ExternalQueryVector;
use rusqlite::Connection;

/// Mean and standard deviation of the cosines of a question with unrelated texts, which count as
/// [`PRIOR_TEXTS`] texts in the statistics: the first vectors of a project are too few for a deviation of their own.
const PRIOR_MEAN: f32 = 0.12;
const PRIOR_DEVIATION: f32 = 0.11;
/// Number of texts that the prior counts as.
const PRIOR_TEXTS: usize = 8;

/// Scores by the transformer's vectors.
pub(super) struct SentenceScores {
    /// Cosine with each text; negative infinity for a text without a vector.
    cosines: Vec<f32>,
    spread: ScoreStats,
}

impl SentenceScores {
    /// Compares the question's vector with those of all texts; `None` without a question's vector, and if no text has
    /// a vector of its model.
    pub(super) fn of(
        connection: &Connection,
        project: i64,
        index: &IndexState,
        requested: Option<&ModelVector>,
        cache: &ProjectCache,
    ) -> Result<Option<Self>, Failure> {
        let Some(requested) = requested else {
            return Ok(None);
        };
        let head = ExternalHeader::read(connection, project, index.generation)?;
        let head = head.filter(|head| head.model == requested.model);
        let query = ExternalQueryVector::of(&requested.numbers);
        let (Some(head), Some(query)) = (head, query) else {
            return Ok(None);
        };
        if head.dims != query.dims() {
            return Ok(None);
        }
        let scores = score_external_vectors(cache, connection, project, index, &head, &query)?;
        Ok(Self::from_cosines(&scores))
    }

    fn from_cosines(scores: &[Option<f32>]) -> Option<Self> {
        let mut known: Vec<f32> = scores.iter().flatten().copied().collect();
        if known.is_empty() {
            return None;
        }
        for _ in 0..PRIOR_TEXTS / 2 {
            known.extend([PRIOR_MEAN - PRIOR_DEVIATION, PRIOR_MEAN + PRIOR_DEVIATION]);
        }
        let cosine = |score: &Option<f32>| score.unwrap_or(f32::NEG_INFINITY);
        Some(Self {
            spread: ScoreStats::of(&known, known.len() as u64),
            cosines: scores.iter().map(cosine).collect(),
        })
    }

    /// Returns the cosine with a text; `None` for a text without a vector.
    pub(super) fn cosine(&self, ordinal: u32) -> Option<f32> {
        let cosine = self.cosines.get(ordinal as usize).copied();
        cosine.filter(|cosine| cosine.is_finite())
    }

    /// Returns the cosine with a text in standard deviations from the mean; `None` for a text without a vector.
    pub(super) fn z(&self, ordinal: u32) -> Option<f32> {
        self.cosine(ordinal).map(|cosine| self.spread.z(cosine))
    }

    /// Returns the most similar texts for which `is_wanted` returns true.
    pub(super) fn best(&self, count: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let ordinal = |place| u32::try_from(place).unwrap_or(u32::MAX);
        let found = top_scores(&self.cosines, count, |place| is_wanted(ordinal(place)));
        found.into_iter().map(|(place, _)| ordinal(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn first_vectors_of_a_project_have_a_deviation() {
        let scores = SentenceScores::from_cosines(&[Some(0.6), None]).unwrap();
        let z = scores.z(0).unwrap();
        assert!((1.0..5.0).contains(&z), "{z}");
    }
}

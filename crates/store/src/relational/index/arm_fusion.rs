//! Fusion of the scores of the search arms: words, vectors, and the sentence transformer.

use super::project_cache::OrdinalTable;
use super::sentence_search::SentenceScores;
use super::vector_search::VectorScores;
use crate::Hit;
use heirloom_model::RecordId;
use heirloom_search::index::bm25::ScoreStats;
use std::collections::HashMap;
use std::sync::Arc;

/// Weight of the vector score relative to the lexical score.
const VECTOR_WEIGHT: f32 = 1.5;
/// Weight of the score by the sentence transformer, and of its estimate for a text that has no vector of it yet.
const SENTENCE_WEIGHT: f32 = 4.0;
const SENTENCE_ESTIMATE_WEIGHT: f32 = 2.0;
/// Number of texts with a vector of the transformer, best first, that an estimate is compared with.
const COMPARED: usize = 64;

/// Scores of all arms for every text.
pub(super) struct ArmScores {
    pub(super) lexical: Vec<f32>,
    pub(super) lexical_spread: ScoreStats,
    pub(super) vectors: VectorScores,
    /// Scores by the sentence transformer, if the question has a vector of it.
    pub(super) sentence: Option<SentenceScores>,
    /// Estimated scores of texts that have no vector of the transformer yet, where they are above the usual estimate.
    pub(super) sentence_estimates: HashMap<u32, f32>,
    pub(super) ids: Arc<OrdinalTable>,
}

impl ArmScores {
    /// Returns the fused score of a text whose vector score is exact.
    pub(super) fn score(&self, ordinal: u32) -> f32 {
        let vector = self.vectors.z(ordinal);
        let sentence = self
            .sentence
            .as_ref()
            .map_or(0.0, |sentence| match sentence.z(ordinal) {
                Some(z) => SENTENCE_WEIGHT * z,
                None => (self.sentence_estimates.get(&ordinal).copied())
                    .unwrap_or(SENTENCE_ESTIMATE_WEIGHT * vector),
            });
        self.word_score(ordinal) + VECTOR_WEIGHT * vector + sentence
    }

    /// Estimates the scores of those texts that the transformer has not read yet.
    ///
    /// A text that fits the query in words and vector at least as well as another is estimated at least as high:
    /// otherwise a new text would rank below an older one that lacks its rare word.
    pub(super) fn estimate_sentences(&mut self, ordinals: &[u32]) {
        let Some(sentence) = &self.sentence else {
            return;
        };
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for ordinal in ordinals.iter().copied() {
            let fit = [self.word_score(ordinal), self.vectors.z(ordinal)];
            match sentence.z(ordinal) {
                Some(z) => known.push((SENTENCE_WEIGHT * z, fit)),
                None => missing.push((ordinal, fit)),
            }
        }
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        known.truncate(COMPARED);
        let estimated = missing.into_iter().filter_map(|(ordinal, fit)| {
            let [word, vector] = fit;
            let surpassed = known
                .iter()
                .find(|(_, other)| other[0] <= word && other[1] <= vector);
            let (score, _) = surpassed?;
            (*score > SENTENCE_ESTIMATE_WEIGHT * vector).then_some((ordinal, *score))
        });
        self.sentence_estimates = estimated.collect();
    }

    /// Returns the part of the fused score from the words.
    fn word_score(&self, ordinal: u32) -> f32 {
        let lexical = self.lexical.get(ordinal as usize);
        lexical.map_or(0.0, |score| self.lexical_spread.z(*score))
    }

    /// Keeps the best `count` candidates; few of those that only one arm found rank.
    pub(super) fn keep_best(&self, ordinals: &mut Vec<u32>, count: usize) {
        if ordinals.len() > count {
            let score = |ordinal: &u32| (self.score(*ordinal), *ordinal);
            let mut scored: Vec<(f32, u32)> = ordinals.iter().map(score).collect();
            scored.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ordinals.clear();
            ordinals.extend(scored.iter().take(count).map(|(_, ordinal)| *ordinal));
        }
    }

    /// Returns the hit of a text with the scores of all arms.
    pub(super) fn hit(&self, ordinal: u32, id: RecordId) -> Hit {
        let lexical = self.lexical.get(ordinal as usize);
        Hit {
            id,
            lexical: lexical.copied().unwrap_or(0.0),
            vector: self.vectors.cosine(ordinal),
            sentence: self
                .sentence
                .as_ref()
                .and_then(|sentence| sentence.cosine(ordinal)),
            score: self.score(ordinal),
            word_score: self.word_score(ordinal),
            conversation: 0.0,
        }
    }
}

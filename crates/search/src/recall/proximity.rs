//! Term proximity: neighbouring words of the query that are close together in a text.

use super::weights::PROXIMITY_DISTANCE;
use crate::index::tokenizer::Term;
use heirloom_model::limits;
use std::collections::HashMap;

/// Word pairs of a query with their weights.
pub(super) struct ProximityScorer {
    /// Index of each stem that is part of a pair.
    stems: HashMap<Term, usize>,
    /// Weight of each pair of stems.
    worth: HashMap<(usize, usize), f64>,
}

impl ProximityScorer {
    /// Creates the pairs of neighbours among `terms`; `df` returns the number of the `searched` items that contain a
    /// term.
    ///
    /// The weight of a pair is ln(1 + N/df), with the df of its rarer term: the index does not count pairs, and exact
    /// counts made no measurable difference.
    pub(super) fn new(
        terms: &[Term],
        pairs: &[(usize, usize)],
        searched: u64,
        df: impl Fn(usize) -> u64,
    ) -> Self {
        let mut stems = HashMap::new();
        let mut worth = HashMap::new();
        for &(a, b) in pairs {
            let (Some(first), Some(second)) = (terms.get(a), terms.get(b)) else {
                continue;
            };
            stems.insert(*first, a);
            stems.insert(*second, b);
            let rarer = df(a).min(df(b)).max(1);
            #[expect(clippy::cast_precision_loss, reason = "counts of items")]
            let gain = (1.0 + searched as f64 / rarer as f64).ln();
            worth.insert((a.min(b), a.max(b)), gain);
        }
        Self { stems, worth }
    }

    /// Returns true if there are no pairs.
    pub(super) fn is_empty(&self) -> bool {
        self.worth.is_empty()
    }

    /// Returns the sum of the weights of pairs whose terms are at most [`PROXIMITY_DISTANCE_MAX`] positions apart, in
    /// any order.
    pub(super) fn score_text(&self, text: &[Term]) -> f64 {
        let mut nearby: Vec<(usize, usize)> = Vec::new();
        let mut found = Vec::new();
        for (place, term) in text.iter().take(limits::RECALL_PAIR_WORDS_MAX).enumerate() {
            let Some(&stem) = self.stems.get(term) else {
                continue;
            };
            nearby.retain(|(at, _)| place - at <= PROXIMITY_DISTANCE);
            for &(_, other) in &nearby {
                let pair = (stem.min(other), stem.max(other));
                if self.worth.contains_key(&pair) && !found.contains(&pair) {
                    found.push(pair);
                }
            }
            nearby.push((place, stem));
        }
        // Floating-point sums depend on the order, so it must be fixed.
        found.sort_unstable();
        found.iter().filter_map(|pair| self.worth.get(pair)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(words: &str) -> Vec<Term> {
        let code = |word: &str| Term(word.bytes().fold(7, |sum, b| sum * 31 + u64::from(b)));
        words.split(' ').map(code).collect()
    }

    fn check(question: &str, text: &str, expected: f64) {
        let terms_asked = terms(question);
        let neighbours: Vec<_> = (1..terms_asked.len()).map(|n| (n - 1, n)).collect();
        let pairs = ProximityScorer::new(&terms_asked, &neighbours, 99, |_| 9);
        let gain = (1.0_f64 + 99.0 / 9.0).ln();
        let found = pairs.score_text(&terms(text)) / gain;
        assert!(
            (found - expected).abs() < 1e-9,
            "{question} in {text}: {found}"
        );
    }

    #[test]
    fn in_text_counts_neighbours_once_in_any_order() {
        check("left pane", "the left pane", 1.0);
        check("left pane", "the pane on left", 1.0);
        check("left pane", "left of the pane", 0.0);
        check("left pane", "left pane left pane", 1.0);
        check("left pane title", "title pane left", 2.0);
        check("left pane", "right", 0.0);
        check("left", "left left", 0.0);
    }

    #[test]
    fn in_text_rare_pairs_weigh_more() {
        let query_terms = terms("a b c");
        let rare = ProximityScorer::new(&query_terms, &[(0, 1)], 100, |n| [1, 50, 9][n]);
        let usual = ProximityScorer::new(&query_terms, &[(0, 1)], 100, |n| [50, 50, 9][n]);
        assert!(rare.score_text(&query_terms) > usual.score_text(&query_terms));
        let odd = ProximityScorer::new(&query_terms, &[(0, 9)], 0, |_| 0);
        assert!(odd.is_empty());
        assert!(odd.score_text(&query_terms).abs() < 1e-9);
    }

    #[test]
    fn in_text_reads_only_beginning_of_long_text() {
        let text = |before: usize| terms(&format!("{}left pane", "x ".repeat(before)));
        let pairs = ProximityScorer::new(&terms("left pane"), &[(0, 1)], 9, |_| 1);
        let most = limits::RECALL_PAIR_WORDS_MAX;
        assert!(pairs.score_text(&text(most - 2)) > 0.0);
        assert!(pairs.score_text(&text(most - 1)).abs() < 1e-9);
    }
}

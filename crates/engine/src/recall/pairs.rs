//! Neighbouring words of the question that are neighbours in a text.

use super::weights::PAIR_DISTANCE;
use heirloom_index::words::Term;
use heirloom_model::limits;
use std::collections::HashMap;

/// The pairs of a question, and what each is worth.
pub(super) struct Pairs {
    /// Where each stem of a pair stands in `worth`.
    stems: HashMap<Term, usize>,
    /// The worth of a pair of stems.
    worth: HashMap<(usize, usize), f64>,
}

impl Pairs {
    /// The pairs among `terms`, where `df` says in how many of `searched` items a term is.
    ///
    /// A pair is worth ln(1 + N/df), df being that of its rarer half: no store counts pairs, and measured
    /// against exact counts it makes no difference.
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

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.worth.is_empty()
    }

    /// The sum over the pairs whose halves stand within [`PAIR_DISTANCE`] places of each other, in any order.
    pub(super) fn in_text(&self, text: &[Term]) -> f64 {
        let mut near: Vec<(usize, usize)> = Vec::new();
        let mut found = Vec::new();
        for (place, term) in text.iter().take(limits::RECALL_PAIR_WORDS_MAX).enumerate() {
            let Some(&stem) = self.stems.get(term) else {
                continue;
            };
            near.retain(|(at, _)| place - at <= PAIR_DISTANCE);
            for &(_, other) in &near {
                let pair = (stem.min(other), stem.max(other));
                if self.worth.contains_key(&pair) && !found.contains(&pair) {
                    found.push(pair);
                }
            }
            near.push((place, stem));
        }
        // In one order, so that the sum is the same whatever the order in which they were found.
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
        let pairs = Pairs::new(&terms_asked, &neighbours, 99, |_| 9);
        let gain = (1.0_f64 + 99.0 / 9.0).ln();
        let found = pairs.in_text(&terms(text)) / gain;
        assert!(
            (found - expected).abs() < 1e-9,
            "{question} in {text}: {found}"
        );
    }

    #[test]
    fn neighbours_count_once_and_in_any_order() {
        check("left pane", "the left pane", 1.0);
        check("left pane", "the pane on left", 1.0);
        check("left pane", "left of the pane", 0.0);
        check("left pane", "left pane left pane", 1.0);
        check("left pane title", "title pane left", 2.0);
        check("left pane", "right", 0.0);
        check("left", "left left", 0.0);
    }

    #[test]
    fn rare_pairs_are_worth_more_and_bad_ones_nothing() {
        let asked = terms("a b c");
        let rare = Pairs::new(&asked, &[(0, 1)], 100, |n| [1, 50, 9][n]);
        let usual = Pairs::new(&asked, &[(0, 1)], 100, |n| [50, 50, 9][n]);
        assert!(rare.in_text(&asked) > usual.in_text(&asked));
        let odd = Pairs::new(&asked, &[(0, 9)], 0, |_| 0);
        assert!(odd.is_empty());
        assert!(odd.in_text(&asked).abs() < 1e-9);
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_looked_at() {
        let text = |before: usize| terms(&format!("{}left pane", "x ".repeat(before)));
        let pairs = Pairs::new(&terms("left pane"), &[(0, 1)], 9, |_| 1);
        let most = limits::RECALL_PAIR_WORDS_MAX;
        assert!(pairs.in_text(&text(most - 2)) > 0.0);
        assert!(pairs.in_text(&text(most - 1)).abs() < 1e-9);
    }
}

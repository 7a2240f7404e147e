//! Repetition of selected candidates: the penalty on the worth of a similar one, and the check for near-duplicates.

use super::Candidate;
use heirloom_model::similarity::ComparableText;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Largest reduction of worth for a candidate that repeats all words of a selected one.
const REPETITION_PENALTY: f64 = 0.7;

/// Largest similarity of each candidate to a selected one, by an index from words to candidates.
pub(super) struct Repetition {
    /// Distinct words of each candidate, as indexes of `holders`.
    words: Vec<Vec<usize>>,
    /// Candidates that contain each word, ascending.
    holders: Vec<Vec<usize>>,
    /// Jaccard similarity of the word sets, 0 to 1.
    largest: Vec<f64>,
}

impl Repetition {
    /// Indexes the words of the candidates.
    pub(super) fn new(candidates: &[Candidate<'_>]) -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut holders: Vec<Vec<usize>> = Vec::new();
        let mut words = Vec::with_capacity(candidates.len());
        for (place, one) in candidates.iter().enumerate() {
            let mut mine = Vec::new();
            for word in one.words.into_iter().flat_map(ComparableText::words) {
                let word = *known.entry(word).or_insert(holders.len());
                if word == holders.len() {
                    holders.push(Vec::new());
                }
                if let Some(holders) = holders.get_mut(word)
                    && holders.last() != Some(&place)
                {
                    holders.push(place);
                    mine.push(word);
                }
            }
            words.push(mine);
        }
        Self {
            words,
            holders,
            largest: vec![0.0; candidates.len()],
        }
    }

    /// Returns the factor for the worth of a candidate, which is smaller the more it repeats a selected one.
    pub(super) fn worth_factor(&self, place: usize) -> f64 {
        1.0 - REPETITION_PENALTY * self.of(place)
    }

    /// Returns the largest similarity of a candidate to a selected one.
    fn of(&self, place: usize) -> f64 {
        self.largest.get(place).copied().unwrap_or(0.0)
    }

    /// Compares all candidates with one that is selected.
    pub(super) fn select(&mut self, place: usize) {
        let Some(selected) = self.words.get(place) else {
            return;
        };
        let mut common = vec![0_usize; self.words.len()];
        for holders in selected.iter().filter_map(|word| self.holders.get(*word)) {
            for other in holders {
                if let Some(count) = common.get_mut(*other) {
                    *count += 1;
                }
            }
        }
        for ((most, both), words) in self.largest.iter_mut().zip(common).zip(&self.words) {
            if both > 0 {
                let all = words.len() + selected.len() - both;
                *most = most.max(both as f64 / all as f64);
            }
        }
    }
}

/// Returns for each candidate the near-duplicate that takes its place, if there is one: of the earliest tier, and of
/// those the newest, which is the likelier correction. Does not depend on the budget.
pub(super) fn find_near_duplicates(
    candidates: &[Candidate<'_>],
    is_open: impl Fn(usize) -> bool,
) -> Vec<Option<usize>> {
    let rank = |one: &Candidate<'_>| (Reverse(one.tier), one.record);
    let mut heads: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut groups: Vec<Option<Vec<&str>>> = Vec::with_capacity(candidates.len());
    for (place, one) in candidates.iter().enumerate() {
        let is_compared = one.requires.is_none() && is_open(place);
        let words = (one.words).filter(|words| is_compared && !words.is_empty());
        let words: Option<Vec<&str>> = words.map(|words| words.meaningful_words().collect());
        if let Some(words) = &words {
            let head = heads.entry(words.clone()).or_insert(place);
            if (candidates.get(*head)).is_some_and(|head| rank(head) < rank(one)) {
                *head = place;
            }
        }
        groups.push(words);
    }
    let head_of = |(place, words): (usize, Option<Vec<&str>>)| {
        let head = heads.get(&words?).copied();
        head.filter(|head| *head != place)
    };
    groups.into_iter().enumerate().map(head_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Tier;
    use super::*;

    #[test]
    fn similarity_is_the_share_of_common_distinct_words() {
        let texts = [
            "port staging moved",
            "staging port port",
            "nothing common",
            "",
        ];
        let words = texts.map(ComparableText::from_text);
        let candidates: Vec<Candidate<'_>> = (words.iter())
            .map(|words| Candidate {
                section: 0,
                tier: Tier::Competing,
                forms: vec![1],
                relevance: None,
                worth: 1.0,
                words: Some(words),
                record: None,
                requires: None,
            })
            .collect();
        let mut repetition = Repetition::new(&candidates);
        assert_eq!([0, 1, 2, 3].map(|at| repetition.of(at)), [0.0; 4]);
        repetition.select(0);
        assert!((repetition.of(1) - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!([2, 3].map(|at| repetition.of(at)), [0.0; 2]);
        repetition.select(2);
        assert!((repetition.of(1) - 2.0 / 3.0).abs() < 1e-9);
    }
}

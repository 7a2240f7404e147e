//! Records that contain a short query word for word, as if it were in quotes.

use super::rank::Ranked;
use super::weights;
use std::ops::RangeInclusive;

/// Number of words of such a query. Two words are neighbours by chance, and a longer query has enough other evidence.
const WORDS: RangeInclusive<usize> = 3..=8;

/// Words of a short query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimQuery {
    words: Vec<String>,
}

impl VerbatimQuery {
    /// Reads a query; `None` for one of another length.
    pub fn new(query: &str) -> Option<Self> {
        let words: Vec<String> = words_of(query).collect();
        WORDS.contains(&words.len()).then_some(Self { words })
    }

    /// Returns true if a text has the words one after the other, whatever the marks around them.
    pub fn is_in(&self, text: &str) -> bool {
        let words: Vec<String> = words_of(text).collect();
        words
            .windows(self.words.len())
            .any(|some| some == self.words)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace();
    words
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Moves the records with the query word for word before all others, in the order that they have.
pub(super) fn lift_verbatim(query: &VerbatimQuery, ranked: &mut [Ranked]) {
    let is_match: Vec<bool> = (ranked.iter())
        .map(|one| one.record().is_some_and(|record| query.is_in(&record.text)))
        .collect();
    let totals = |matches: bool| {
        let of_kind = ranked.iter().zip(&is_match);
        of_kind
            .filter(move |(_, is_match)| **is_match == matches)
            .map(|(one, _)| one.breakdown.total)
    };
    let best = totals(false).fold(f64::NEG_INFINITY, f64::max);
    let least = totals(true).fold(f64::INFINITY, f64::min);
    let behind = (best - least).max(0.0);
    let lead = weights::PHRASE + if behind.is_finite() { behind } else { 0.0 };
    let matches = ranked.iter_mut().zip(is_match);
    for (one, _) in matches.filter(|(_, is_match)| *is_match) {
        one.breakdown.phrases += lead;
        one.breakdown.total += lead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_of_three_words_is_found_in_a_text() {
        let query = VerbatimQuery::new("Nodes of (the").unwrap();
        for text in [
            "all nodes of the graph",
            "Nodes, of the.",
            "the nodes of: THE graph",
        ] {
            assert!(query.is_in(text), "{text}");
        }
        for text in ["nodes of a graph", "of the nodes", "nodes of", ""] {
            assert!(!query.is_in(text), "{text}");
        }
    }

    #[test]
    fn short_and_long_queries_are_left_to_the_score() {
        assert_eq!(VerbatimQuery::new("left pane"), None);
        assert_eq!(VerbatimQuery::new("left - pane !"), None);
        assert!(VerbatimQuery::new("a b c d e f g h").is_some());
        assert_eq!(VerbatimQuery::new("a b c d e f g h i"), None);
    }
}

//! Records that contain a short query word for word, as if it were in quotes.

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

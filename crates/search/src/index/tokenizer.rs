//! Lexical analysis: the stems of a text. Postings store their hashes.
//!
//! Words are runs of letters and digits, folded (case, accents) and stemmed by Porter's rules, like SQLite's `porter
//! unicode61`. In addition, words that hyphens or underscores join are indexed in joined form (`--keep-emptied` is
//! also `keepemptied`), and camel-case names by their parts. Scripts without spaces are indexed as pairs of
//! characters, and an emoji is a word.

mod character_folding;
mod character_pairs;
mod compound_names;
mod stem_cache;
mod stop_words;
mod word_splitter;

use heirloom_model::limits::QUESTION_TERMS_MAX;
use std::collections::HashMap;
use word_splitter::WordSplitter;

/// Maximum number of stems of the first line that count as the head.
pub const HEAD_STEMS: usize = 40;

/// Hash of a stem, 48 bits, as stored in postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

impl Term {
    /// Computes the term of a folded and stemmed word: FNV-1a, mixed once more so that all bits count.
    fn of(stem: &str) -> Self {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in stem.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        hash ^= hash >> 33;
        hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 33;
        Self(hash & 0xffff_ffff_ffff)
    }
}

/// Occurrence of a stem in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stem {
    /// Term of the stem.
    pub term: Term,
    /// Byte offset of its word in the text.
    pub at: usize,
    /// True for an additional form of a word: a joined form or a part of a name.
    pub is_extra: bool,
    /// True for a stop word (a function word of English); set for queries only.
    pub is_stop: bool,
}

/// Returns the stems of `text` in order; additional forms follow their word.
pub fn stems(text: &str) -> Vec<Stem> {
    WordSplitter::read(text, false)
}

/// Frequency of a term in a text and in its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermCount {
    /// Term that is counted.
    pub term: Term,
    /// Frequency in the text.
    pub count: u32,
    /// Frequency in the head: the first line, up to [`HEAD_STEMS`] stems.
    pub in_head: u32,
}

/// Term frequencies of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentTerms {
    /// Distinct terms in order.
    pub terms: Vec<TermCount>,
    /// Number of stems, repetitions included.
    pub len: u32,
    /// Number of stems in the head.
    pub head_len: u32,
}

impl DocumentTerms {
    /// Analyses a text.
    pub fn of(text: &str) -> Self {
        let stems = stems(text);
        let first_line = text.trim_start();
        let skipped = text.len() - first_line.len();
        let end = skipped + first_line.find('\n').unwrap_or(first_line.len());
        let head_len = stems
            .iter()
            .take_while(|stem| stem.at < end)
            .take(HEAD_STEMS)
            .count();
        let mut marked: Vec<(Term, bool)> = stems
            .iter()
            .enumerate()
            .map(|(n, stem)| (stem.term, n < head_len))
            .collect();
        marked.sort_unstable();
        let mut terms: Vec<TermCount> = Vec::with_capacity(marked.len());
        for (term, in_head) in marked {
            match terms.last_mut() {
                Some(last) if last.term == term => {
                    last.count += 1;
                    last.in_head += u32::from(in_head);
                }
                Some(_) | None => terms.push(TermCount {
                    term,
                    count: 1,
                    in_head: u32::from(in_head),
                }),
            }
        }
        Self {
            terms,
            len: u32::try_from(stems.len()).unwrap_or(u32::MAX),
            head_len: u32::try_from(head_len).unwrap_or(u32::MAX),
        }
    }
}

/// Terms of a query: its distinct stems, without stop words unless all are stop words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryTerms {
    /// Terms in the order of the query.
    pub terms: Vec<Term>,
    /// Neighbouring words, as pairs of positions in `terms`; stop words are skipped.
    pub pairs: Vec<(usize, usize)>,
}

impl QueryTerms {
    /// Parses the text of a query.
    pub fn of(text: &str) -> Self {
        let stems = WordSplitter::read(text, true);
        let says_something = stems.iter().any(|stem| !stem.is_stop);
        let mut places = HashMap::new();
        let mut query = Self::default();
        let mut before = None;
        for stem in stems.iter().filter(|stem| !says_something || !stem.is_stop) {
            if query.terms.len() == QUESTION_TERMS_MAX {
                break;
            }
            let place = *places.entry(stem.term).or_insert_with(|| {
                query.terms.push(stem.term);
                query.terms.len() - 1
            });
            if stem.is_extra {
                continue;
            }
            if let Some(before) = before.filter(|before| *before != place) {
                query.pairs.push((before, place));
            }
            before = Some(place);
        }
        query.pairs.sort_unstable();
        query.pairs.dedup();
        query
    }

    /// Returns true if there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(words: &[&str]) -> Vec<Term> {
        words.iter().map(|word| Term::of(word)).collect()
    }

    fn of(text: &str) -> Vec<Term> {
        stems(text).iter().map(|stem| stem.term).collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(of("Running CONNECTIONS"), terms(&["run", "connect"]));
        assert_eq!(of("Crème brûlée"), terms(&["creme", "brule"]));
        assert_eq!(of("ÉCOLE école"), terms(&["ecol", "ecol"]));
        assert_eq!(of("a.b/c::d 3.14"), terms(&["a", "b", "c", "d", "3", "14"]));
        assert_eq!(of(""), []);
        assert_eq!(of("  \n\t ✓ -- !"), []);
        assert_eq!(of("🚀🟦 go\u{fe0f}"), terms(&["🚀", "🟦", "go"]));
    }

    #[test]
    fn joined_words_are_also_indexed_joined() {
        assert_eq!(
            of("--keep-emptied x"),
            terms(&["keep", "empti", "keepempti", "x"])
        );
        assert_eq!(
            of("snake_case_name"),
            terms(&["snake", "case", "name", "snakecasenam"])
        );
        assert_eq!(of("a - b"), terms(&["a", "b"]));
        assert_eq!(of("a/b-c"), terms(&["a", "b", "c", "bc"]));
    }

    #[test]
    fn camel_case_names_are_indexed_by_parts() {
        assert_eq!(
            of("parseHTTPHeader"),
            terms(&["parsehttphead", "pars", "http", "header"])
        );
        assert_eq!(of("HTTP Http x2Y"), terms(&["http", "http", "x2y"]));
    }

    #[test]
    fn scripts_without_spaces_are_indexed_as_pairs() {
        assert_eq!(of("東京都"), terms(&["東京", "京都"]));
        assert_eq!(of("猫 x"), terms(&["猫", "x"]));
        assert_eq!(of("Привет мир"), terms(&["привет", "мир"]));
    }

    #[test]
    fn document_counts_terms_in_text_and_head() {
        let document = DocumentTerms::of("\nfix the parser\n\nthe parser failed on tabs");
        assert_eq!((document.len, document.head_len), (8, 3));
        let parser = document.terms.iter().find(|t| t.term == Term::of("parser"));
        assert_eq!(parser.map(|t| (t.count, t.in_head)), Some((2, 1)));
        let tab = document.terms.iter().find(|t| t.term == Term::of("tab"));
        assert_eq!(tab.map(|t| (t.count, t.in_head)), Some((1, 0)));
        let long = DocumentTerms::of(&"word ".repeat(100));
        assert_eq!((long.len, long.head_len), (100, 40));
        assert_eq!(long.terms.len(), 1);
    }

    #[test]
    fn query_drops_stop_words_unless_all_are() {
        let query = QueryTerms::of("How do we fix the parser, the old parser?");
        assert_eq!(query.terms, terms(&["fix", "parser", "old"]));
        assert_eq!(query.pairs.len(), 3);
        assert_eq!(QueryTerms::of("to be or the").terms.len(), 4);
        let many: String = (0..=QUESTION_TERMS_MAX).map(|n| format!("x{n} ")).collect();
        assert_eq!(QueryTerms::of(&many).terms.len(), QUESTION_TERMS_MAX);
        assert!(QueryTerms::of("!? ✓").is_empty());
        assert!(
            QueryTerms::of("not before").terms.len() == 2,
            "these say something"
        );
    }
}

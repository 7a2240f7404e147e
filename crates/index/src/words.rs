//! What a text is made of, for the search by words: stems, of which the postings keep a hash.
//!
//! Words are runs of letters and digits, folded (case, accents) and stemmed by Porter's rules, as SQLite's
//! `porter unicode61` does. Besides them a text has the joined form of what hyphens and underscores join
//! (`--keep-emptied` is also `keepemptied`) and the parts of names in camel case. Scripts without spaces give
//! pairs of characters.

mod fold;
mod memo;
mod stop;

use fold::Folder;
use heirloom_model::limits::QUESTION_TERMS_MAX;
use std::collections::HashMap;

/// Most stems of the first line that count as the head.
pub const HEAD_STEMS: usize = 40;

/// A stem, as the postings know it: 48 bits of its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

impl Term {
    /// The term of a folded and stemmed word: FNV-1a, mixed once more so that all bits count.
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

/// One stem in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stem {
    /// Which.
    pub term: Term,
    /// The byte of the text where its word begins.
    pub at: usize,
    /// Whether it stands beside the words of the text: a joined form, a part of a name.
    pub is_extra: bool,
    /// Whether it is a word that says little, a function word of English; told of questions only.
    pub is_stop: bool,
}

/// The stems of `text` in order; extra ones come behind the word that they belong to.
pub fn stems(text: &str) -> Vec<Stem> {
    Folder::read(text, false)
}

/// How often a stem is in a text, and in its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Which.
    pub term: Term,
    /// How often.
    pub count: u32,
    /// How often in the head: the first line, up to 40 stems of it.
    pub in_head: u32,
}

/// A text as the postings see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Its stems, each once, in the order of the terms.
    pub terms: Vec<Counted>,
    /// How many stems it has, repeated ones counted.
    pub len: u32,
    /// How many its head has.
    pub head_len: u32,
}

impl Document {
    /// The document of this text.
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
        let mut terms: Vec<Counted> = Vec::with_capacity(marked.len());
        for (term, in_head) in marked {
            match terms.last_mut() {
                Some(last) if last.term == term => {
                    last.count += 1;
                    last.in_head += u32::from(in_head);
                }
                Some(_) | None => terms.push(Counted {
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

/// What is searched for: the distinct stems of a question, without stop words unless nothing else is left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The stems, in the order of the question.
    pub terms: Vec<Term>,
    /// Neighbours among its words: places in `terms` of two that follow each other, stop words left out.
    pub pairs: Vec<(usize, usize)>,
}

impl Question {
    /// The question in this text.
    pub fn of(text: &str) -> Self {
        let stems = Folder::read(text, true);
        let says_something = stems.iter().any(|stem| !stem.is_stop);
        let mut places = HashMap::new();
        let mut question = Self::default();
        let mut before = None;
        for stem in stems.iter().filter(|stem| !says_something || !stem.is_stop) {
            if question.terms.len() == QUESTION_TERMS_MAX {
                break;
            }
            let place = *places.entry(stem.term).or_insert_with(|| {
                question.terms.push(stem.term);
                question.terms.len() - 1
            });
            if stem.is_extra {
                continue;
            }
            if let Some(before) = before.filter(|before| *before != place) {
                question.pairs.push((before, place));
            }
            before = Some(place);
        }
        question.pairs.sort_unstable();
        question.pairs.dedup();
        question
    }

    /// Whether there is nothing to search for.
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
        assert_eq!(of("  \n\t 🙂 -- !"), []);
    }

    #[test]
    fn joined_words_have_their_joined_form_too() {
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
    fn names_in_camel_case_have_their_parts() {
        assert_eq!(
            of("parseHTTPHeader"),
            terms(&["parsehttphead", "pars", "http", "header"])
        );
        assert_eq!(of("HTTP Http x2Y"), terms(&["http", "http", "x2y"]));
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(of("東京都"), terms(&["東京", "京都"]));
        assert_eq!(of("猫 x"), terms(&["猫", "x"]));
        assert_eq!(of("Привет мир"), terms(&["привет", "мир"]));
    }

    #[test]
    fn a_document_counts_and_knows_its_head() {
        let document = Document::of("\nfix the parser\n\nthe parser failed on tabs");
        assert_eq!((document.len, document.head_len), (8, 3));
        let parser = document.terms.iter().find(|t| t.term == Term::of("parser"));
        assert_eq!(parser.map(|t| (t.count, t.in_head)), Some((2, 1)));
        let tab = document.terms.iter().find(|t| t.term == Term::of("tab"));
        assert_eq!(tab.map(|t| (t.count, t.in_head)), Some((1, 0)));
        let long = Document::of(&"word ".repeat(100));
        assert_eq!((long.len, long.head_len), (100, 40));
        assert_eq!(long.terms.len(), 1);
    }

    #[test]
    fn a_question_drops_what_says_nothing_unless_nothing_is_left() {
        let question = Question::of("How do we fix the parser, the old parser?");
        assert_eq!(question.terms, terms(&["fix", "parser", "old"]));
        assert_eq!(question.pairs.len(), 3);
        assert_eq!(Question::of("to be or the").terms.len(), 4);
        let many: String = (0..=QUESTION_TERMS_MAX).map(|n| format!("x{n} ")).collect();
        assert_eq!(Question::of(&many).terms.len(), QUESTION_TERMS_MAX);
        assert!(Question::of("!? 🙂").is_empty());
        assert!(
            Question::of("not before").terms.len() == 2,
            "these say something"
        );
    }
}

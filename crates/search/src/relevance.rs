//! Relevance: the calibrated chance that a careful colleague would mention a record for a question.
//!
//! The score of recall is relative to the memory: the best of irrelevant hits has a high score too. A logistic model
//! over absolute features decides instead. `cargo xtask fit relevance` fits it; `coefficients.rs` is its output and is
//! never edited by hand.
//!
//! Pure functions of the question, the statistics of its terms and one candidate of recall.

mod alignment;
mod case_coefficients;
mod coefficients;
mod floors;
mod names;
mod rarity;
mod script;
mod sentence_coefficients;
mod telling;

use crate::index::tokenizer::{self, Term};
use crate::index::word_pieces;
use alignment::AlignedPieces;
pub use floors::{
    ANSWER_COSINE_MIN, ANSWER_MIN, CONTEXT_FLOOR, FLOOR, Grade, LIKELY_MIN, TELL_CASE_COSINE_MIN,
    TELL_CASE_MIN, TELL_MIN, TELL_MORE_MIN,
};
use floors::{ANSWER_OTHER_SCRIPT_MIN, ANSWER_WORDS_MIN};
use heirloom_model::{Kind, Timestamp, limits};
use rarity::{is_vocabulary_word, word_rarity};
pub use script::is_mostly_latin;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
pub use telling::{Tellable, select_told};

/// Maximum number of words of a question that can be nonsense; of a longer one the index may not have searched all words.
const NONSENSE_WORDS_MAX: usize = 64;
/// Number of features.
pub const FEATURES: usize = 22;
/// Number of further features of a candidate with a vector of the sentence transformer.
pub const SENTENCE_FEATURES: usize = 2;

/// Names of the features, in the order of [`Features::values`].
pub const FEATURE_NAMES: [&str; FEATURES] = [
    "coverage",
    "matched",
    "information",
    "rarest",
    "key",
    "complement",
    "shared_names",
    "pairs",
    "cosine",
    "aligned",
    "aligned_share",
    "record_share",
    "behind",
    "rank",
    "words",
    "lines",
    "error",
    "episode",
    "decision",
    "learning",
    "pasted_error",
    "coverage_information",
];

/// Names of the further features, in the order of [`Features::sentence_values`].
pub const SENTENCE_FEATURE_NAMES: [&str; SENTENCE_FEATURES] = ["sentence", "sentence_behind"];

/// Number of features of a case, in addition to the log odds of its text.
pub const CASE_FEATURES: usize = 2;

/// Names of these features, in the order of [`Features::case_values`]: ln(1 + hours since its request), and ln(1 + bytes of
/// its text), which is long after much work.
pub const CASE_FEATURE_NAMES: [&str; CASE_FEATURES] = ["age", "length"];

/// Share of a failure's word pieces, weighted by information, that pasted output of it has at least.
const PASTED_SHARE_MIN: f64 = 0.45;

/// Minimum number of texts for document frequencies; otherwise every word of a young memory would be common.
const TEXTS_MIN: u64 = 1_000;

/// A question, prepared for many candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Distinct terms with their information.
    terms: Vec<(Term, f64)>,
    /// Sum of the information of all terms.
    information: f64,
    /// True if a term is in a text of the memory, or its word in the vocabulary of general language.
    has_known_word: bool,
    /// True if most letters are of the script that the models know.
    is_latin: bool,
    words: usize,
    lines: usize,
    /// True for a plan or another text with headings, whose lines are no pasted output.
    is_document: bool,
    pieces: AlignedPieces,
    names: HashSet<String>,
    /// Time of the question, from which the age of a case counts.
    asked_at: Option<Timestamp>,
}

/// One candidate of recall.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CandidateText<'a> {
    /// Its text.
    pub text: &'a str,
    /// Complement of the text: the reason of a decision, the resolution of an error, the outcome of an episode.
    pub complement: &'a str,
    /// Its key.
    pub key: Option<&'a str>,
    /// Its kind; `None` for a turn of a conversation.
    pub kind: Option<Kind>,
    /// Its category, for knowledge.
    pub category: Option<&'a str>,
    /// Cosine of the built-in vectors.
    pub cosine: f64,
    /// Similarity by the sentence transformer; `None` if the question or the candidate has no vector of it.
    pub sentence: Option<SentenceMatch>,
    /// Part of its score for neighbouring words of the question.
    pub pairs: f64,
    /// Difference to the score of the best candidate, at least 0.
    pub behind: f64,
    /// Position in recall's order, from 0.
    pub rank: usize,
    /// Time of the request, for a case; `None` for other records.
    pub case_at: Option<Timestamp>,
}

/// Similarity of a candidate by the sentence transformer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SentenceMatch {
    /// Cosine of the vectors.
    pub cosine: f64,
    /// Difference to the cosine of the most similar candidate, at least 0.
    pub behind: f64,
}

/// Features of a candidate for a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    values: [f64; FEATURES],
    sentence_values: Option<[f64; SENTENCE_FEATURES]>,
    case_values: Option<[f64; CASE_FEATURES]>,
}

impl Question {
    /// Prepares a question. `terms` and `dfs` are the terms that recall searched and their document frequencies among
    /// `searched` texts.
    pub fn new(text: &str, terms: &[Term], dfs: &[u64], searched: u64) -> Self {
        let mut rarities: HashMap<Term, f64> = HashMap::new();
        let searched_terms: HashSet<Term> = terms.iter().copied().collect();
        let words = text.split_whitespace().count();
        let mut has_known_word =
            terms.is_empty() || words > NONSENSE_WORDS_MAX || dfs.iter().any(|df| *df > 0);
        for stem in tokenizer::stems(text) {
            let Entry::Vacant(entry) = rarities.entry(stem.term) else {
                continue;
            };
            let word = text.get(stem.at..).unwrap_or_default();
            has_known_word =
                has_known_word || searched_terms.contains(&stem.term) && is_vocabulary_word(word);
            entry.insert(word_rarity(word));
        }
        let weigh = |(term, df): (&Term, &u64)| {
            let rarity = rarities.get(term).copied().unwrap_or(1.0);
            (*term, document_rarity(*df, searched) * rarity)
        };
        let weighed: Vec<(Term, f64)> = terms.iter().zip(dfs).map(weigh).collect();
        Self {
            information: weighed.iter().map(|(_, worth)| worth).sum(),
            terms: weighed,
            has_known_word,
            is_latin: is_mostly_latin(text),
            words,
            lines: text.matches('\n').count(),
            is_document: has_headings(text),
            pieces: AlignedPieces::of(&word_pieces::pieces(
                text,
                limits::RELEVANCE_QUESTION_PIECES_MAX,
            )),
            names: names::names(text).collect(),
            asked_at: None,
        }
    }

    /// Returns true if a word of the question is in a text of the memory or in the vocabulary of general language.
    pub fn has_known_word(&self) -> bool {
        self.has_known_word
    }

    /// Returns the least relevance of the best hit without a sentence vector if memory answers the question.
    pub fn answer_min(&self) -> f64 {
        match self.is_latin {
            true => ANSWER_WORDS_MIN,
            false => ANSWER_OTHER_SCRIPT_MIN,
        }
    }

    /// Reads the lines of the text as it was given, before a parser put it on one line.
    #[must_use]
    pub fn with_lines_of(mut self, text: &str) -> Self {
        self.lines = text.matches('\n').count();
        self.is_document = has_headings(text);
        self
    }

    /// Sets the time of the question. Without one a case has no age.
    #[must_use]
    pub fn asked_at(mut self, time: Timestamp) -> Self {
        self.asked_at = Some(time);
        self
    }

    /// Returns the features of a candidate.
    pub fn features(&self, candidate: &CandidateText<'_>) -> Features {
        let key = candidate.key.unwrap_or_default();
        let key_stems = tokenizer::stems(key);
        let words = key_stems.iter().filter(|stem| !stem.is_extra);
        let key_terms: HashSet<Term> = words.map(|stem| stem.term).collect();
        let mut own = terms_of(candidate.text);
        own.extend(key_stems.iter().map(|stem| stem.term));
        let complement = terms_of(candidate.complement);
        let matched = self.terms.iter().filter(|(term, _)| own.contains(term));
        let matched: Vec<f64> = matched.map(|(_, worth)| *worth).collect();
        let is_in_complement =
            |(term, _): &&(Term, f64)| complement.contains(term) && !own.contains(term);
        let in_complement = self.terms.iter().filter(is_in_complement);
        let in_key = self
            .terms
            .iter()
            .filter(|(term, _)| key_terms.contains(term));
        let record = AlignedPieces::of(&word_pieces::pieces(
            candidate.text,
            limits::RELEVANCE_RECORD_PIECES_MAX,
        ));
        let alignment = self.pieces.align(&record);
        let is = |kind: Kind| f64::from(u8::from(candidate.kind == Some(kind)));
        let category = |name: &str| f64::from(u8::from(candidate.category == Some(name)));
        Features {
            values: [
                share(matched.iter().sum(), self.information),
                log1p(matched.iter().sum()),
                log1p(self.information),
                matched.iter().copied().fold(0.0, f64::max),
                share(count(in_key.count()), count(key_terms.len())),
                log1p(in_complement.map(|(_, worth)| *worth).sum()),
                log1p(count(self.shared_names(candidate.text, key))),
                candidate.pairs.max(0.0),
                candidate.cosine.max(0.0),
                log1p(alignment.covered_nats),
                alignment.share,
                alignment.share_of_other,
                candidate.behind.max(0.0),
                log1p(count(candidate.rank)),
                log1p(count(self.words)),
                log1p(count(self.lines)),
                is(Kind::Error),
                is(Kind::Episode),
                category("decision"),
                category("learning"),
                is(Kind::Error) * self.pasted_output(alignment.share_of_other),
                // A large memory covers every common prompt: coverage counts if the prompt has information.
                share(matched.iter().sum(), self.information) * log1p(self.information),
            ],
            sentence_values: candidate
                .sentence
                .map(|sentence| [sentence.cosine.max(0.0), sentence.behind.max(0.0)]),
            case_values: candidate
                .case_at
                .map(|then| [self.age_of(then), log1p(count(candidate.text.len()))]),
        }
    }

    /// Returns the logarithm of the pasted lines if they can be the output of a failure, of whose words a share is in the
    /// question. A log of other failures, in which only `command not found` is the same, has less of them.
    fn pasted_output(&self, share_of_failure: f64) -> f64 {
        match share_of_failure >= PASTED_SHARE_MIN {
            true => log1p(count(self.pasted_lines())),
            false => 0.0,
        }
    }

    /// Returns the number of lines that may be pasted output.
    fn pasted_lines(&self) -> usize {
        match self.is_document {
            true => 0,
            false => self.lines,
        }
    }

    /// Returns the logarithm of the hours since `then`. The work of an hour ago goes on more often than that of last month.
    fn age_of(&self, then: Timestamp) -> f64 {
        let elapsed = self.asked_at.map(|now| now.duration_since(then));
        log1p(elapsed.map_or(0.0, |elapsed| elapsed.as_secs_f64() / 3_600.0))
    }

    /// Counts the names of the question that a text or a key has.
    fn shared_names(&self, text: &str, key: &str) -> usize {
        if self.names.is_empty() {
            return 0;
        }
        let theirs: HashSet<String> = names::names(text).chain(names::names(key)).collect();
        self.names.intersection(&theirs).count()
    }

    /// Returns the relevance of a candidate, 0 to 1.
    pub fn relevance(&self, candidate: &CandidateText<'_>) -> f64 {
        self.features(candidate).probability()
    }
}

impl Features {
    /// Returns the values in the order of [`FEATURE_NAMES`].
    pub fn values(&self) -> &[f64; FEATURES] {
        &self.values
    }

    /// Returns true if the candidate has all words of the question.
    pub fn has_all_words(&self) -> bool {
        // The first feature is the coverage, a sum of shares.
        self.values[0] > 1.0 - 1e-9
    }

    /// Returns true if the candidate has a word of the question.
    pub fn has_words(&self) -> bool {
        self.values[0] > 0.0
    }

    /// Returns the values of the sentence transformer in the order of [`SENTENCE_FEATURE_NAMES`]; `None` without
    /// vectors of it.
    pub fn sentence_values(&self) -> Option<&[f64; SENTENCE_FEATURES]> {
        self.sentence_values.as_ref()
    }

    /// Returns the values of a case in the order of [`CASE_FEATURE_NAMES`]; `None` for other records.
    pub fn case_values(&self) -> Option<&[f64; CASE_FEATURES]> {
        self.case_values.as_ref()
    }

    /// Returns the probability of the fitted model: of the one with the sentence transformer if the candidate has its
    /// values, else of the one without. Both are calibrated, so that their probabilities are comparable. That of a case
    /// also depends on its age and length.
    pub fn probability(&self) -> f64 {
        let text = self.text_log_odds();
        let log_odds = self.case_values.map_or(text, |values| {
            let own = dot(&values, &case_coefficients::COEFFICIENTS);
            case_coefficients::BIAS + case_coefficients::TEXT * text + own
        });
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// Returns the log odds of the text alone.
    pub fn text_log_odds(&self) -> f64 {
        match &self.sentence_values {
            None => coefficients::BIAS + dot(&self.values, &coefficients::COEFFICIENTS),
            Some(further) => {
                let (own, others) = sentence_coefficients::COEFFICIENTS.split_at(FEATURES);
                sentence_coefficients::BIAS + dot(&self.values, own) + dot(further, others)
            }
        }
    }
}

fn dot(values: &[f64], coefficients: &[f64]) -> f64 {
    let products = values.iter().zip(coefficients);
    products.map(|(value, one)| value * one).sum()
}

/// Number of headings from which on a text is a document.
const HEADINGS_MIN: usize = 2;

/// Returns true for a text with sections, such as the plan in `Implement the following plan: …`. One `#` also begins a
/// comment of a shell.
fn has_headings(text: &str) -> bool {
    let is_heading = |line: &str| line.starts_with("## ") || line.starts_with("### ");
    text.lines()
        .filter(|line| is_heading(line))
        .nth(HEADINGS_MIN - 1)
        .is_some()
}

/// Returns the distinct stems of a text.
fn terms_of(text: &str) -> HashSet<Term> {
    let stems = tokenizer::stems(text);
    stems.iter().map(|stem| stem.term).collect()
}

/// Returns a part as a share; 0 of nothing.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

/// Returns the inverse document frequency, nats.
fn document_rarity(df: u64, searched: u64) -> f64 {
    let (df, all) = (count_u64(df), count_u64(searched.max(df).max(TEXTS_MIN)));
    (1.0 + (all - df + 0.5) / (df + 0.5)).ln()
}

fn log1p(value: f64) -> f64 {
    (1.0 + value.max(0.0)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn count(value: usize) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts")]
fn count_u64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
#[path = "relevance/tests.rs"]
mod tests;

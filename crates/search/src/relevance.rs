//! Relevance: the calibrated chance that a careful colleague would mention a record for a question.
//!
//! The score of recall is relative to the memory: the best of irrelevant hits has a high score too. A logistic model
//! over absolute features decides instead. `cargo xtask fit relevance` fits it; `coefficients.rs` is its output and is
//! never edited by hand.
//!
//! Pure functions of the question, the statistics of its terms and one candidate of recall.

mod alignment;
mod coefficients;
mod names;
mod rarity;

use crate::index::tokenizer::{self, Term};
use crate::index::word_pieces;
use alignment::AlignedPieces;
use heirloom_model::{Kind, limits};
use rarity::word_rarity;
use std::collections::{HashMap, HashSet};

/// Number of features.
pub const FEATURES: usize = 23;

/// Names of the features, in the order of [`Features::values`].
pub const FEATURE_NAMES: [&str; FEATURES] = [
    "matched",
    "coverage",
    "known",
    "rarest",
    "information",
    "cosine",
    "cosine_squared",
    "behind",
    "rank",
    "words",
    "lines",
    "question_mark",
    "names",
    "record_rarity",
    "record_length",
    "aligned",
    "aligned_share",
    "error",
    "episode",
    "decision",
    "learning",
    "architecture",
    "pasted_error",
];

/// Minimum number of texts for document frequencies; otherwise every word of a young memory would be common.
const TEXTS_MIN: u64 = 1_000;

/// Grade of a hit, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Below the floor: recall leaves it out unless all hits are requested.
    Weak,
    /// Above the floor.
    Likely,
    /// Relevant enough to be told without being asked for.
    Strong,
}

impl Grade {
    /// Returns the grade of a relevance.
    pub fn of(relevance: f64) -> Self {
        if relevance >= coefficients::STRONG_MIN {
            Self::Strong
        } else if relevance >= coefficients::LIKELY_MIN {
            Self::Likely
        } else {
            Self::Weak
        }
    }

    /// Returns the name in JSON and at the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Likely => "likely",
            Self::Strong => "strong",
        }
    }
}

/// Relevance from which a record is told with a prompt, unasked.
pub const TELL_MIN: f64 = coefficients::STRONG_MIN;
/// Relevance from which a further record is told after one that reaches [`TELL_MIN`].
pub const TELL_MORE_MIN: f64 = coefficients::TELL_MORE_MIN;
/// Floor of recall: hits below it are weak.
pub const FLOOR: f64 = coefficients::LIKELY_MIN;

/// Floor of a context, which also takes doubtful records after the good ones if they fit.
pub const CONTEXT_FLOOR: f64 = coefficients::CONTEXT_MIN;

/// A question, prepared for many candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Distinct terms with their information.
    terms: Vec<(Term, f64)>,
    /// Sum of the information of all terms.
    information: f64,
    /// Sum of the information of the terms that the memory has.
    known: f64,
    words: usize,
    lines: usize,
    has_question_mark: bool,
    pieces: AlignedPieces,
}

/// One candidate of recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateText<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its key.
    pub key: Option<&'a str>,
    /// Its kind; `None` for a turn of a conversation.
    pub kind: Option<Kind>,
    /// Its category, for knowledge.
    pub category: Option<&'a str>,
    /// Cosine of the built-in vectors.
    pub cosine: f64,
    /// Difference to the score of the best candidate, at least 0.
    pub behind: f64,
    /// Position in recall's order, from 0.
    pub rank: usize,
}

/// Features of a candidate for a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    values: [f64; FEATURES],
}

impl Question {
    /// Prepares a question. `terms` and `dfs` are the terms that recall searched and their document frequencies among
    /// `searched` texts.
    pub fn new(text: &str, terms: &[Term], dfs: &[u64], searched: u64) -> Self {
        let mut rarities: HashMap<Term, f64> = HashMap::new();
        for stem in tokenizer::stems(text) {
            rarities
                .entry(stem.term)
                .or_insert_with(|| word_rarity(text.get(stem.at..).unwrap_or_default()));
        }
        let weigh = |(term, df): (&Term, &u64)| {
            let rarity = rarities.get(term).copied().unwrap_or(1.0);
            (*term, document_rarity(*df, searched) * rarity)
        };
        let weighed: Vec<(Term, f64)> = terms.iter().zip(dfs).map(weigh).collect();
        let known = weighed.iter().zip(dfs).filter(|(_, df)| **df > 0);
        Self {
            information: weighed.iter().map(|(_, worth)| worth).sum(),
            known: known.map(|((_, worth), _)| worth).sum(),
            terms: weighed,
            words: text.split_whitespace().count(),
            lines: text.matches('\n').count(),
            has_question_mark: text.contains(['?', '？', '؟']),
            pieces: AlignedPieces::of(&word_pieces::pieces(
                text,
                limits::RELEVANCE_QUESTION_PIECES_MAX,
            )),
        }
    }

    /// Returns the features of a candidate.
    pub fn features(&self, candidate: &CandidateText<'_>) -> Features {
        let stems = tokenizer::stems(candidate.text);
        let length = stems.iter().filter(|stem| !stem.is_extra).count();
        let named = tokenizer::stems(candidate.key.unwrap_or_default());
        let all: HashSet<Term> = stems.iter().chain(&named).map(|stem| stem.term).collect();
        let matched = self.terms.iter().filter(|(term, _)| all.contains(term));
        let matched: Vec<f64> = matched.map(|(_, worth)| *worth).collect();
        let shared: f64 = matched.iter().sum();
        let share = |part: f64| {
            if self.information > 0.0 {
                part / self.information
            } else {
                0.0
            }
        };
        let pieces = word_pieces::pieces(candidate.text, limits::RELEVANCE_RECORD_PIECES_MAX);
        let record = AlignedPieces::of(&pieces);
        let (aligned, aligned_share) = self.pieces.align(&record);
        let cosine = candidate.cosine.max(0.0);
        let is = |kind: Kind| f64::from(u8::from(candidate.kind == Some(kind)));
        let category = |name: &str| f64::from(u8::from(candidate.category == Some(name)));
        Features {
            values: [
                log1p(shared),
                share(shared),
                share(self.known),
                matched.iter().copied().fold(0.0, f64::max),
                log1p(self.information),
                cosine,
                cosine * cosine,
                candidate.behind.max(0.0),
                log1p(count(candidate.rank)),
                log1p(count(self.words)),
                log1p(count(self.lines)),
                f64::from(u8::from(self.has_question_mark)),
                log1p(count(names::count_names(candidate.text))),
                record.mean_rarity(),
                log1p(count(length)),
                log1p(aligned),
                aligned_share,
                is(Kind::Error),
                is(Kind::Episode),
                category("decision"),
                category("learning"),
                category("architecture"),
                is(Kind::Error) * log1p(count(self.lines)),
            ],
        }
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

    /// Returns the probability of the fitted model.
    pub fn probability(&self) -> f64 {
        let products = self.values.iter().zip(&coefficients::COEFFICIENTS);
        let log_odds = coefficients::BIAS + products.map(|(value, one)| value * one).sum::<f64>();
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// Returns the positions of the candidates that are told with a prompt, at most `most`, best first. `relevance` is in
/// recall's order. Empty unless one candidate is strong.
pub fn select_told(relevance: &[f64], most: usize) -> Vec<usize> {
    if !relevance.iter().any(|one| *one >= TELL_MIN) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..relevance.len()).collect();
    let value = |place: usize| relevance.get(place).copied().unwrap_or(0.0);
    // The sort is stable: with equal relevance recall's order decides.
    order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
    order.retain(|place| value(*place) >= TELL_MORE_MIN);
    order.truncate(most);
    order
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

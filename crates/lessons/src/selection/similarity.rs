//! Similarity of candidates: shared words, weighted by how rare they are in the session.

use crate::code_tokens::{TokenKind, code_tokens, content_words, stem};
use crate::cues::SelectionCues;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_model::similarity::ComparableText;
use heirloom_model::statement::Statement;
use std::collections::{BTreeMap, BTreeSet};

/// Smallest number of words in common.
const COMMON_WORDS_MIN: usize = 3;

/// Number of commands from which on a record of checks is a chain, whose single commands are useful on their own.
const CHAIN_MIN: usize = 3;
/// Smallest number of names of code in common.
const COMMON_NAMES_MIN: usize = 2;

/// Words of one candidate.
struct CandidateWords {
    words: BTreeSet<String>,
    /// Code spans of a command record.
    spans: Vec<String>,
    /// Names of code in lower case.
    names: BTreeSet<String>,
    key: Option<String>,
    compared: ComparableText,
    statement: Statement,
    source: SourceKind,
    is_error: bool,
    is_case: bool,
    is_person: bool,
    /// True if it has more than the commands themselves.
    has_details: bool,
}

/// Comparison of a session's candidates.
pub(super) struct Comparison {
    all: Vec<CandidateWords>,
    weights: BTreeMap<String, f32>,
    same_share: f32,
    same_error_share: f32,
}

impl Comparison {
    /// Creates the comparison of candidates.
    pub(super) fn new(candidates: &[&Candidate], cues: &SelectionCues) -> Self {
        let all: Vec<CandidateWords> = candidates
            .iter()
            .map(|candidate| CandidateWords::of(candidate))
            .collect();
        let mut weights: BTreeMap<String, f32> = BTreeMap::new();
        for words in &all {
            for word in &words.words {
                *weights.entry(word.clone()).or_insert(0.0) += 1.0;
            }
        }
        let total = f32::from(u16::try_from(all.len()).unwrap_or(u16::MAX)) + 1.0;
        for weight in weights.values_mut() {
            *weight = (total / *weight).ln() + 0.3;
        }
        Self {
            all,
            weights,
            same_share: cues.same_share,
            same_error_share: cues.same_error_share,
        }
    }

    /// Returns true if the second candidate states the same as the first one, which has more merit.
    pub(super) fn is_same(&self, better: usize, other: usize) -> bool {
        let (Some(better), Some(other)) = (self.all.get(better), self.all.get(other)) else {
            return false;
        };
        if better.key.is_some() && better.key == other.key {
            return true;
        }
        if better.is_case || other.is_case || better.contradicts(other) {
            return false;
        }
        // One word more or another one is another rule.
        if better.is_person && other.is_person {
            return better.compared.is_near_duplicate(&other.compared);
        }
        if better.source == SourceKind::Command && other.source == SourceKind::Command {
            // One command of a long chain can be a lesson of its own.
            let is_part_of_chain = better.spans.len() >= CHAIN_MIN && other.spans.len() == 1;
            let is_contained = !other.spans.is_empty()
                && other.spans.iter().all(|span| better.spans.contains(span));
            return is_contained && !is_part_of_chain && !other.has_details;
        }
        let share = self.share(better, other);
        // Two statements with the same names of code are about the same thing.
        let names = better.names.intersection(&other.names).count();
        let fewer = better.names.len().min(other.names.len());
        let is_knowledge = !better.is_error && !other.is_error;
        if is_knowledge
            && better.is_person == other.is_person
            && better.source != other.source
            && names >= COMMON_NAMES_MIN
            && names * 3 >= fewer * 2
            && share >= self.same_error_share
        {
            return true;
        }
        let are_errors = better.is_error && other.is_error;
        let share_min = match (are_errors, better.is_person != other.is_person) {
            (true, _) => self.same_error_share,
            // A person's rule is more than what the agent did.
            (false, true) => (self.same_share + 1.0) / 2.0,
            (false, false) => self.same_share,
        };
        share >= share_min
    }

    /// Returns the weight of the common words as a share of the smaller candidate's.
    fn share(&self, one: &CandidateWords, other: &CandidateWords) -> f32 {
        let weight = |word: &String| self.weights.get(word).copied().unwrap_or(1.0);
        let common: Vec<&String> = one.words.intersection(&other.words).collect();
        if common.len() < COMMON_WORDS_MIN {
            return 0.0;
        }
        let sum = |words: &BTreeSet<String>| words.iter().map(weight).sum::<f32>();
        let smaller = sum(&one.words).min(sum(&other.words));
        common.into_iter().map(weight).sum::<f32>() / smaller.max(0.1)
    }
}

impl CandidateWords {
    /// Returns true if one of two statements takes the other one back; each is a lesson of its own.
    fn contradicts(&self, other: &Self) -> bool {
        let effect = self.statement.effect_on(&other.statement);
        effect
            .or_else(|| other.statement.effect_on(&self.statement))
            .is_some()
    }

    fn of(candidate: &Candidate) -> Self {
        let text = candidate.full_text();
        let key = match &candidate.content {
            LessonContent::Knowledge { key, .. } => key.clone(),
            LessonContent::Error { key, .. } => Some(key.clone()),
            LessonContent::Attempt { .. }
            | LessonContent::Case { .. }
            | LessonContent::Steps(_) => None,
        };
        let spans = text
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        Self {
            words: content_words(&text)
                .iter()
                .map(|word| stem(word).to_owned())
                .collect(),
            names: code_tokens(&text)
                .iter()
                .filter(|token| token.kind == TokenKind::Code)
                .map(|token| token.text.to_lowercase())
                .collect(),
            compared: ComparableText::from_text(&text),
            statement: Statement::from_text(&text),
            spans,
            key,
            source: candidate.source,
            is_error: matches!(candidate.content, LessonContent::Error { .. }),
            is_case: matches!(candidate.content, LessonContent::Case { .. }),
            is_person: candidate.speaker == Speaker::Person,
            has_details: text.contains("The first run took"),
        }
    }
}

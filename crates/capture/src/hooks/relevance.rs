//! Relevance of records for a prompt: a calibrated score, because a rank alone does not show if a hit is worth
//! injecting.

use crate::Hooks;
use heirloom_engine::{Evidence, QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Kind, Record, limits, mark, text};
use heirloom_search::index::tokenizer::{self, Term};
use heirloom_search::recall::{Ranked, RecallItem};
use std::collections::HashSet;

/// Kinds that are injected: knowledge that was learned, not actions.
const KINDS: [Kind; 5] = [
    Kind::Knowledge,
    Kind::Note,
    Kind::Error,
    Kind::Episode,
    Kind::Summary,
];

/// Record with its measures of relevance to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevantHit {
    /// The record.
    pub record: Record,
    /// Sum of the inverse document frequencies of the shared words, in nats.
    pub shared: f64,
    /// Share of the prompt's total inverse document frequency that is shared.
    pub coverage: f64,
    /// Cosine of the record's and the prompt's vectors.
    pub cosine: f64,
}

impl RelevantHit {
    /// Returns the log-odds that the record is relevant to the prompt, minus the threshold; it is injected from 0 on.
    /// Fitted to commits and to changelog lines of the same and of other projects (decision 59).
    pub fn score(&self) -> f64 {
        let covered = self.coverage.min(COVERAGE_CAP);
        let cosine = self.cosine.max(0.0);
        2.9 * (1.0 + self.shared).ln()
            + (17.9 - 14.6 * covered) * covered
            + (25.4 - 9.4 * cosine) * cosine
            - THRESHOLD
    }

    /// Returns true if the record is relevant: by its score, or because it covers nearly all words of an informative
    /// prompt. Such questions are rare in the data that the score was fitted to.
    pub fn is_good(&self) -> bool {
        let has_nearly_all = self.coverage >= 0.75 && self.shared >= 18.0 && self.cosine >= 0.2;
        has_nearly_all || self.score() >= 0.0
    }

    /// Selects at most `most` positions of `near`, which has recall's order. Empty unless one hit is good. Otherwise
    /// the first hits are taken, because recall ranks better, except those that score too low.
    pub fn select(near: &[Self], most: usize) -> Vec<usize> {
        let Some(good) = near.iter().position(Self::is_good) else {
            return Vec::new();
        };
        let may = |one: &Self| one.is_good() || one.score() >= -SECONDARY_MARGIN;
        let mut mark_delivered: Vec<usize> = (0..near.len())
            .filter(|n| near.get(*n).is_some_and(may))
            .take(most)
            .collect();
        if mark_delivered.iter().all(|n| *n < good) {
            mark_delivered.truncate(most.saturating_sub(1));
            mark_delivered.push(good);
        }
        mark_delivered
    }
}

/// Coverage above which more shared words add no evidence.
const COVERAGE_CAP: f64 = 0.61;
/// Score at which fewer than one in fifty prompts of other projects get a hit.
const THRESHOLD: f64 = 25.1;
/// Score margin for secondary hits once one hit is good.
const SECONDARY_MARGIN: f64 = 4.0;
/// Minimum number of texts for document frequencies; otherwise every word of a young memory would be common.
const TEXTS_MIN: u64 = 1_000;

impl Hooks<'_> {
    /// Returns the first results of recall for a prompt with their relevance, best first.
    ///
    /// Errors: those of [`Recall::search`](heirloom_engine::Recall::search).
    pub fn relevant_hits(&self, prompt: &str) -> Result<Vec<RelevantHit>, Fault> {
        let question = question_part(prompt);
        if !question.chars().any(char::is_alphanumeric) {
            return Ok(Vec::new());
        }
        let request = RecallRequest {
            question: question.to_owned(),
            syntax: QuerySyntax::Words,
            // A filter by kind would take three times as long, so other kinds are dropped afterwards.
            k: Some(2 * limits::RECALL_HITS_DEFAULT),
            ..RecallRequest::default()
        };
        let (ranked, evidence) = self.engine.recall().search_with_evidence(&request)?;
        let worth = TermWeights::from_evidence(&evidence);
        let now = self.engine.now();
        let near = ranked.into_iter().filter_map(|one| worth.weigh_hit(one));
        let holds = |record: &Record| {
            record.true_from.is_none_or(|from| from <= now)
                && record.true_to.is_none_or(|to| to > now)
                && !mark::is_muted(&record.attrs)
                && record.attrs.get("disputed").is_none()
        };
        Ok(near
            .filter(|one| KINDS.contains(&one.record.kind) && holds(&one.record))
            .take(limits::RECALL_HITS_DEFAULT)
            .collect())
    }
}

/// Inverse document frequencies of a question's words.
struct TermWeights {
    terms: Vec<(Term, f64)>,
    all: f64,
}

impl TermWeights {
    fn from_evidence(evidence: &Evidence) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts of texts")]
        let idf = |df: u64| {
            let (df, all) = (df as f64, evidence.searched.max(df).max(TEXTS_MIN) as f64);
            (1.0 + (all - df + 0.5) / (df + 0.5)).ln()
        };
        let dfs = evidence.dfs.iter().copied();
        let terms: Vec<(Term, f64)> = evidence.terms.iter().copied().zip(dfs.map(idf)).collect();
        let all = terms.iter().map(|(_, worth)| worth).sum();
        Self { terms, all }
    }

    fn weigh_hit(&self, hit: Ranked) -> Option<RelevantHit> {
        let RecallItem::Record(record) = hit.item else {
            return None;
        };
        let named = record.key.as_deref().unwrap_or_default();
        let stems = tokenizer::stems(&record.text).into_iter();
        let stems: HashSet<Term> = stems
            .chain(tokenizer::stems(named))
            .map(|stem| stem.term)
            .collect();
        let shared = self.terms.iter().filter(|(term, _)| stems.contains(term));
        let shared: f64 = shared.map(|(_, worth)| worth).sum();
        Some(RelevantHit {
            record: *record,
            shared,
            coverage: if self.all > 0.0 {
                shared / self.all
            } else {
                0.0
            },
            cosine: hit.breakdown.vector,
        })
    }
}

/// Returns the beginning of a prompt: it has the question, pasted text follows.
fn question_part(prompt: &str) -> &str {
    let mut end = prompt.len().min(limits::HOOK_QUESTION_BYTES_MAX);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    &prompt[..end]
}

/// Formats a record as one line of a prompt's answer: text, category, reason, source and id.
pub(super) fn line(record: &Record) -> String {
    let text = text::excerpt(&record.text, limits::HOOK_HIT_CHARS_MAX);
    let what = record
        .category()
        .map_or_else(|| record.kind.to_string(), str::to_owned);
    let more = [("rationale", "because"), ("resolution", "resolved by")];
    let more: String = (more.iter())
        .filter_map(|(name, word)| {
            let why = text::excerpt(record.attr_str(name)?, limits::HOOK_HIT_CHARS_MAX / 4);
            Some(format!("; {word}: {why}"))
        })
        .collect();
    let day = record.recorded_at.strftime("%Y-%m-%d");
    let source = text::one_line(&record.source);
    let id = record.id.to_string();
    format!("- {what}: {text}{more} (from {source}, {day}; heirloom show {id})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_prompt_is_cut_at_character_boundary() {
        let most = limits::HOOK_QUESTION_BYTES_MAX;
        let fits = "x".repeat(most);
        assert_eq!(question_part(&fits), fits);
        let over = format!("{}é", "x".repeat(most - 1));
        assert_eq!(question_part(&over).len(), most - 1);
        assert_eq!(question_part(""), "");
    }

    fn record(text: &str) -> Record {
        Record {
            project: heirloom_model::ProjectName::new("p").unwrap(),
            id: heirloom_model::RecordId::MIN,
            kind: Kind::Note,
            key: None,
            text: text.to_owned(),
            attrs: heirloom_model::record::Attrs::new(),
            scope: heirloom_model::Scope::default(),
            source: "ann".to_owned(),
            confidence: heirloom_model::Confidence::FULL,
            tokens: 1,
            recorded_at: heirloom_model::Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    #[test]
    fn long_record_is_shortened_in_line() {
        let most = limits::HOOK_HIT_CHARS_MAX;
        let mark_delivered = |chars: usize| line(&record(&"x".repeat(chars)));
        assert!(mark_delivered(most).starts_with(&format!(
            "- note: {} (from ann, 1970-01-01;",
            "x".repeat(most)
        )));
        assert!(mark_delivered(most + 1).contains("x… (from ann"));
    }

    fn near(shared: f64, coverage: f64, cosine: f64) -> RelevantHit {
        RelevantHit {
            record: record("x"),
            shared,
            coverage,
            cosine,
        }
    }

    #[test]
    fn secondary_hits_are_selected_only_with_a_good_one() {
        let (good, close, far) = (
            near(40.0, 0.6, 0.6),
            near(14.0, 0.4, 0.4),
            near(2.0, 0.1, 0.0),
        );
        assert!(good.is_good() && !close.is_good() && !far.is_good());
        assert!(close.score() >= -SECONDARY_MARGIN && far.score() < -SECONDARY_MARGIN);
        let mark_delivered = |near: &[&RelevantHit]| {
            let near: Vec<RelevantHit> = near.iter().map(|one| (*one).clone()).collect();
            RelevantHit::select(&near, 3)
        };
        assert!(mark_delivered(&[]).is_empty());
        assert!(mark_delivered(&[&close, &close, &far]).is_empty());
        assert_eq!(mark_delivered(&[&good, &far]), [0]);
        assert_eq!(mark_delivered(&[&close, &far, &good, &close]), [0, 2, 3]);
        assert_eq!(mark_delivered(&[&close, &close, &close, &good]), [0, 1, 3]);
        assert_eq!(mark_delivered(&[&good, &good, &close, &good]), [0, 1, 2]);
    }

    #[test]
    fn rare_and_unknown_words_have_higher_weight() {
        let question = tokenizer::QueryTerms::of("borrow checker lifetimes");
        let evidence = Evidence {
            terms: question.terms,
            dfs: vec![100, 5, 0],
            searched: 10_000,
        };
        let worth = TermWeights::from_evidence(&evidence);
        let each: Vec<f64> = worth.terms.iter().map(|(_, worth)| *worth).collect();
        assert!(each[0] < each[1] && each[1] < each[2], "{each:?}");
        assert!(worth.all > 0.0);
    }
}

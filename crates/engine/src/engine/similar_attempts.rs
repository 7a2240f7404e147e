//! Similar attempts: earlier episodes with an approach like a planned one, and their outcome.

mod approach_similarity;

use super::recall::{QuerySyntax, RecallRequest};
use crate::engine::Tasks;
use approach_similarity::{SIMILAR_MIN, similarities};
use heirloom_model::kinds::Episode;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, limits};
use heirloom_search::recall::{Ranked, RecallItem};
use heirloom_search::relevance::CONTEXT_FLOOR;

/// Episode that resembles a planned approach.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarAttempt {
    /// The episode.
    pub record: Record,
    /// Its attributes.
    pub episode: Episode,
    /// Score of the match.
    pub score: f64,
}

/// Result of a search for similar attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarAttemptsReport {
    /// Episodes with the same or a similar approach, and not only on the same subject: successful ones first, then the others, each group best first.
    pub attempts: Vec<SimilarAttempt>,
    /// True if a similar attempt has failed.
    pub has_failed: bool,
}

impl Tasks<'_> {
    /// Returns earlier attempts like `approach`, of one task or of all; empty if nothing similar was tried.
    ///
    /// Errors: those of [`Recall::search`](crate::Recall::search).
    pub fn similar_attempts(
        &self,
        approach: &str,
        task: Option<&str>,
    ) -> Result<SimilarAttemptsReport, Fault> {
        let request = RecallRequest {
            question: approach.to_owned(),
            syntax: QuerySyntax::Words,
            k: Some(limits::RECALL_POOL_HITS),
            kinds: vec![Kind::Episode],
            scope: Scope {
                task: task.map(str::to_owned),
                ..Scope::default()
            },
            dedup: super::recall::DedupMode::Keep,
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        };
        let recalled = self.engine.recall().search_locally(&request)?;
        Ok(report(approach, recalled.hits))
    }
}

fn report(approach: &str, hits: Vec<Ranked>) -> SimilarAttemptsReport {
    let attempt = |hit: Ranked| {
        // The similarity of the approaches decides; relevance only leaves out attempts of another subject.
        let is_relevant = (hit.relevance).is_none_or(|relevance| relevance >= CONTEXT_FLOOR);
        let RecallItem::Record(record) = hit.item else {
            return None;
        };
        let episode = Episode::from_record(&record).ok()?;
        let attempt = SimilarAttempt {
            score: hit.breakdown.total,
            record: *record,
            episode,
        };
        Some((attempt, is_relevant))
    };
    let candidates: Vec<(SimilarAttempt, bool)> = hits.into_iter().filter_map(attempt).collect();
    let earlier: Vec<&str> = candidates
        .iter()
        .map(|(one, _)| one.episode.approach.as_deref().unwrap_or(&one.record.text))
        .collect();
    let similarities = similarities(approach, &earlier);
    let rated = candidates.into_iter().zip(similarities);
    let mut attempts: Vec<SimilarAttempt> = rated
        .filter(|((_, is_relevant), similarity)| *is_relevant && *similarity >= SIMILAR_MIN)
        .map(|((attempt, _), _)| attempt)
        .collect();
    // The sort is stable: within each group the best stays first.
    attempts.sort_by_key(|attempt| attempt.episode.action != WORKED);
    let has_failed = attempts
        .iter()
        .any(|attempt| attempt.episode.action == FAILED);
    SimilarAttemptsReport {
        attempts,
        has_failed,
    }
}

/// Compares an approach with others: true for each that is the same attempt, perhaps in other words.
pub fn is_same_approach(approach: &str, others: &[&str]) -> Vec<bool> {
    let similarities = similarities(approach, others);
    similarities
        .into_iter()
        .map(|one| one >= SIMILAR_MIN)
        .collect()
}

const WORKED: &str = "completed";
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Confidence, ProjectName, RecordId, Timestamp};
    use heirloom_search::recall::ScoreBreakdown;

    fn episode(action: &str, approach: &str, outcome: &str) -> Ranked {
        let typed = Episode {
            action: action.to_owned(),
            approach: Some(approach.to_owned()),
            outcome: Some(outcome.to_owned()),
            files: Vec::new(),
            symbols: Vec::new(),
            duration_ms: None,
            tokens_in: None,
            tokens_out: None,
            extra: Attrs::new(),
        };
        let record = Record {
            project: ProjectName::new("p").unwrap(),
            id: RecordId::MIN,
            kind: Kind::Episode,
            key: None,
            text: format!("{approach}: {outcome}"),
            attrs: typed.to_attrs(),
            scope: Scope::of_task("7"),
            source: "codex".to_owned(),
            confidence: Confidence::AGENT,
            tokens: 1,
            recorded_at: Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        };
        Ranked {
            item: RecallItem::Record(Box::new(record)),
            breakdown: ScoreBreakdown::default(),
            relevance: None,
            duplicates: Vec::new(),
        }
    }

    #[test]
    fn report_lists_similar_attempts_only_and_successes_first() {
        let mut rows = vec![
            episode("failed", "patch the parser by hand", "tests broke"),
            episode("attempted", "patch the reader and parser", ""),
            episode("completed", "patched the parser by hand", "works"),
            episode("failed", "fix the failing test by hand", "slow"),
        ];
        let actions = |approach: &str, rows: &[Ranked]| -> Vec<String> {
            let found = report(approach, rows.to_vec());
            let actions = found.attempts.into_iter();
            actions.map(|attempt| attempt.episode.action).collect()
        };
        assert_eq!(
            actions("patch parser", &rows),
            ["completed", "failed", "attempted"]
        );
        assert!(report("patch parser", rows.clone()).has_failed);
        let other = report("buy a new machine", rows.clone());
        assert_eq!((other.attempts.len(), other.has_failed), (0, false));
        assert!(!report("patch parser", Vec::new()).has_failed);
        // Below the floor of recall it is about something else.
        rows[0].relevance = Some(CONTEXT_FLOOR / 2.0);
        assert_eq!(actions("patch parser", &rows), ["completed", "attempted"]);
        assert!(!report("patch parser", rows).has_failed);
    }
}

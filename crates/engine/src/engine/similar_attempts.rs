//! Similar attempts: earlier episodes with an approach like a planned one, and their outcome.

use super::recall::{QuerySyntax, RecallRequest, VectorSource};
use crate::engine::Tasks;
use heirloom_model::kinds::Episode;
use heirloom_model::similarity::ComparableText;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, limits};
use heirloom_search::recall::{Ranked, RecallItem};

/// Minimum share of an approach's words that a similar episode contains.
const SHARED_WORDS_MIN: f64 = 0.5;
/// Minimum cosine of two texts with the same meaning in other words.
const COSINE_MIN: f64 = 0.6;

/// Episode that resembles a planned approach.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarAttempt {
    /// The episode.
    pub record: Record,
    /// Its attributes.
    pub episode: Episode,
    /// Score of the match.
    pub score: f64,
    /// True if the approach is the same or a similar one, and not only on the same subject.
    pub is_similar: bool,
}

/// Result of a search for similar attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarAttemptsReport {
    /// Matching episodes: successful ones first, then the others, each group best first.
    pub attempts: Vec<SimilarAttempt>,
    /// True if a similar attempt has failed.
    pub has_failed: bool,
}

impl Tasks<'_> {
    /// Returns earlier attempts like `approach`, of one task or of all.
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
            ..RecallRequest::default()
        };
        // The threshold of the cosine holds for the built-in vectors only.
        let recalled = self
            .engine
            .recall()
            .search_with_vectors(&request, VectorSource::BuiltIn)?;
        Ok(report(approach, recalled.hits))
    }
}

fn report(approach: &str, hits: Vec<Ranked>) -> SimilarAttemptsReport {
    let wanted = ComparableText::from_text(approach);
    let attempt = |hit: Ranked| {
        let RecallItem::Record(record) = hit.item else {
            return None;
        };
        let episode = Episode::from_record(&record).ok()?;
        let approach = episode.approach.as_deref().unwrap_or_default();
        let episode_text = ComparableText::from_text(&format!("{approach} {}", record.text));
        let alike = wanted.share_in(&episode_text) >= SHARED_WORDS_MIN
            || hit.breakdown.vector >= COSINE_MIN;
        Some(SimilarAttempt {
            score: hit.breakdown.total,
            record: *record,
            episode,
            is_similar: alike,
        })
    };
    let mut attempts: Vec<SimilarAttempt> = hits.into_iter().filter_map(attempt).collect();
    // The sort is stable: within each group the best stays first.
    attempts.sort_by_key(|attempt| attempt.episode.action != WORKED);
    let failed = attempts
        .iter()
        .any(|attempt| attempt.is_similar && attempt.episode.action == FAILED);
    SimilarAttemptsReport {
        attempts,
        has_failed: failed,
    }
}

const WORKED: &str = "completed";
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Confidence, ProjectName, RecordId, Timestamp};
    use heirloom_search::recall::ScoreBreakdown;

    fn episode(action: &str, approach: &str, outcome: &str, vector: f64) -> Ranked {
        let typed = Episode {
            action: action.to_owned(),
            approach: Some(approach.to_owned()),
            outcome: Some(outcome.to_owned()),
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
            breakdown: ScoreBreakdown {
                vector,
                ..ScoreBreakdown::default()
            },
            duplicates: Vec::new(),
        }
    }

    #[test]
    fn report_lists_successes_first_and_flags_similar_failures() {
        let rows = vec![
            episode("failed", "patch the parser by hand", "tests broke", 0.1),
            episode("attempted", "rewrite it", "", 0.1),
            episode("completed", "generate the parser", "works", 0.1),
        ];
        let found = report("patch parser", rows.clone());
        let actions: Vec<_> = found
            .attempts
            .iter()
            .map(|attempt| attempt.episode.action.as_str())
            .collect();
        assert_eq!(actions, ["completed", "failed", "attempted"]);
        assert!(found.has_failed);
        assert!(!report("buy a new machine", rows).has_failed);
        let meant = vec![episode(
            "failed",
            "mend the reader manually",
            "no",
            COSINE_MIN,
        )];
        assert!(report("patch parser", meant).has_failed);
        assert!(!report("patch parser", Vec::new()).has_failed);
    }
}

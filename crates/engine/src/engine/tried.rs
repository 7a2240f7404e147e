//! What was tried before: whether something like an approach has failed, and why.

use super::Engine;
use super::recall::{Reading, RecallRequest, Vectors};
use crate::recall::{Item, Ranked};
use heirloom_model::kinds::Episode;
use heirloom_model::likeness::Likeness;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, limits};

/// Least share of an approach's words that an episode has, for the two to be alike.
const ALIKE: f64 = 0.5;
/// Least cosine at which two texts mean the same in other words.
const MEANS_ALIKE: f64 = 0.6;

/// One episode that is like what is to be tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The episode.
    pub record: Record,
    /// Its attributes.
    pub episode: Episode,
    /// How well it fits.
    pub score: f64,
    /// Whether it is the same approach or one like it, and not only near.
    pub alike: bool,
}

/// What was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct TriedReport {
    /// The episodes that fit: what worked first, then the rest, each best first.
    pub tried: Vec<Tried>,
    /// Whether one that is alike has failed.
    pub failed: bool,
}

impl Engine {
    /// What was tried that is like `approach`, in one task or in all.
    ///
    /// Errors: those of [`Engine::recall`].
    pub fn tried(&self, approach: &str, task: Option<&str>) -> Result<TriedReport, Fault> {
        let request = RecallRequest {
            question: approach.to_owned(),
            reading: Reading::Words,
            k: Some(limits::RECALL_HITS_MANY),
            kinds: vec![Kind::Episode],
            scope: Scope {
                task: task.map(str::to_owned),
                ..Scope::default()
            },
            doubles: super::recall::Doubles::Keep,
            ..RecallRequest::default()
        };
        // What is alike is told by a cosine: that of another model would say something else.
        let recalled = self.recall_by(&request, Vectors::BuiltIn)?;
        Ok(report(approach, recalled.hits))
    }
}

fn report(approach: &str, hits: Vec<Ranked>) -> TriedReport {
    let wanted = Likeness::of(approach);
    let one = |hit: Ranked| {
        let Item::Record(record) = hit.item else {
            return None;
        };
        let episode = Episode::of(&record).ok()?;
        let approach = episode.approach.as_deref().unwrap_or_default();
        let theirs = Likeness::of(&format!("{approach} {}", record.text));
        let alike = wanted.share_in(&theirs) >= ALIKE || hit.parts.vector >= MEANS_ALIKE;
        Some(Tried {
            score: hit.parts.total,
            record: *record,
            episode,
            alike,
        })
    };
    let mut tried: Vec<Tried> = hits.into_iter().filter_map(one).collect();
    // Stable: within each half the best stays first.
    tried.sort_by_key(|one| one.episode.action != WORKED);
    let failed = tried
        .iter()
        .any(|one| one.alike && one.episode.action == FAILED);
    TriedReport { tried, failed }
}

const WORKED: &str = "completed";
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::Parts;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Confidence, ProjectName, RecordId, Timestamp};

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
            item: Item::Record(Box::new(record)),
            parts: Parts {
                vector,
                ..Parts::default()
            },
            folded: Vec::new(),
        }
    }

    #[test]
    fn what_worked_comes_first_and_what_is_alike_warns() {
        let rows = vec![
            episode("failed", "patch the parser by hand", "tests broke", 0.1),
            episode("attempted", "rewrite it", "", 0.1),
            episode("completed", "generate the parser", "works", 0.1),
        ];
        let found = report("patch parser", rows.clone());
        let actions: Vec<_> = found
            .tried
            .iter()
            .map(|one| one.episode.action.as_str())
            .collect();
        assert_eq!(actions, ["completed", "failed", "attempted"]);
        assert!(found.failed);
        assert!(!report("buy a new machine", rows).failed);
        let meant = vec![episode(
            "failed",
            "mend the reader manually",
            "no",
            MEANS_ALIKE,
        )];
        assert!(report("patch parser", meant).failed);
        assert!(!report("patch parser", Vec::new()).failed);
    }
}

//! What was tried for a task and what it left behind, as lines of a context.

use super::super::Engine;
use super::super::episodes::EpisodeFilter;
use crate::analytics::{Episodic, approach_key};
use heirloom_model::context::Item;
use heirloom_model::kinds::{ARTIFACT_FILE, EpisodeAction};
use heirloom_model::{Fault, Record, RecordId, limits};

/// One approach in the words of its newest try, and how often it had failed.
struct Tried {
    key: String,
    id: RecordId,
    worked: bool,
    words: String,
    failures: usize,
}

impl Engine {
    /// What was tried for the task: what failed, newest first, then what worked.
    pub(super) fn tried_items(&self, task: &str) -> Result<Vec<Item>, Fault> {
        let newest = self.episodes(&EpisodeFilter {
            task: Some(task.to_owned()),
            limit: Some(limits::CONTEXT_EPISODES_MAX),
            ..EpisodeFilter::default()
        })?;
        let mut tried: Vec<Tried> = Vec::new();
        for record in &newest {
            let Some(one) = Episodic::of(record) else {
                continue;
            };
            let (Some(words), Some(worked)) = (words(&one, record), worked(&one)) else {
                continue;
            };
            let key = approach_key(one.approach.as_deref().unwrap_or(&words));
            let failures = usize::from(!worked);
            match tried.iter_mut().find(|known| known.key == key) {
                Some(known) => known.failures += failures,
                None => tried.push(Tried {
                    key,
                    id: one.id,
                    worked,
                    words,
                    failures,
                }),
            }
        }
        let (worked, failed): (Vec<_>, Vec<_>) = tried.into_iter().partition(|one| one.worked);
        Ok(failed.into_iter().chain(worked).map(Tried::item).collect())
    }
}

/// What the task left behind besides files that were only modified, the newest first; `found` is oldest first.
pub(super) fn artifact_items(found: &[Record]) -> Vec<Item> {
    let newest = found.iter().rev().take(limits::CONTEXT_ARTIFACTS_MAX);
    newest.map(artifact_item).collect()
}

impl Tried {
    fn item(self) -> Item {
        let how = match (self.worked, self.failures) {
            (true, 0) => "Worked".to_owned(),
            (true, 1) => "Worked after a failure".to_owned(),
            (true, n) => format!("Worked after {n} failures"),
            (false, 1) => "Failed".to_owned(),
            (false, n) => format!("Failed {n} times"),
        };
        Item {
            id: Some(self.id),
            text: format!("{how}: {}", self.words),
        }
    }
}

/// How it ended; `None` while nobody has said so.
fn worked(one: &Episodic) -> Option<bool> {
    match one.action? {
        EpisodeAction::Completed => Some(true),
        EpisodeAction::Failed => Some(false),
        EpisodeAction::Attempted | EpisodeAction::Retried => None,
    }
}

/// What an episode has to tell. Of an iteration without an approach the errors and steps tell more.
fn words(one: &Episodic, record: &Record) -> Option<String> {
    match (&one.approach, &one.outcome) {
        (Some(approach), Some(outcome)) => Some(format!("{approach}: {outcome}")),
        (Some(approach), None) => Some(approach.clone()),
        (None, Some(outcome)) if record.scope.iteration.is_none() => Some(outcome.clone()),
        (None, _) => None,
    }
}

/// Whether more is known of an artifact than that a file was modified.
pub(super) fn is_described(artifact: &Record) -> bool {
    artifact.attr_str("type") != Some(ARTIFACT_FILE) || artifact.attr_str("description").is_some()
}

fn artifact_item(artifact: &Record) -> Item {
    let kind = artifact.attr_str("type").unwrap_or(ARTIFACT_FILE);
    let path = &artifact.text;
    let text = match artifact.attr_str("description") {
        Some(description) => format!("{path} ({kind}): {description}"),
        None => format!("{path} ({kind})"),
    };
    Item {
        id: Some(artifact.id),
        text,
    }
}

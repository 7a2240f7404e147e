//! Attempts and artifacts of a task, as lines of a context.

use super::super::episodes::EpisodeFilter;
use super::Echoes;
use crate::analytics::{EpisodeRow, approach_key};
use crate::engine::Engine;
use heirloom_model::case::case_line;
use heirloom_model::context::ContextItem;
use heirloom_model::kinds::{ARTIFACT_FILE, EpisodeAction};
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::record_meaning::is_exit_status;
use heirloom_model::{Fault, Record, RecordId, limits};

/// Approach with the text of its newest attempt and the number of failures.
struct Attempt {
    key: String,
    id: RecordId,
    worked: bool,
    words: String,
    failures: usize,
}

/// Returns the attempts of a task: failed ones, newest first, then successful ones. An approach that only repeats
/// the question is left out, and its outcome stays.
pub(in crate::engine) fn attempt_items(
    engine: &Engine,
    task: &str,
    echoes: &Echoes,
) -> Result<Vec<ContextItem>, Fault> {
    let newest = engine.tasks().episodes(&EpisodeFilter {
        task: Some(task.to_owned()),
        limit: Some(limits::CONTEXT_EPISODES_MAX),
        ..EpisodeFilter::default()
    })?;
    let mut tried: Vec<Attempt> = Vec::new();
    for record in &newest {
        let Some(one) = EpisodeRow::from_record(record) else {
            continue;
        };
        let (Some(words), Some(worked)) = (episode_text(&one, record, echoes), success_of(&one))
        else {
            continue;
        };
        let key = approach_key(one.approach.as_deref().unwrap_or(&words));
        let failures = usize::from(!worked);
        match tried.iter_mut().find(|known| known.key == key) {
            Some(known) => known.failures += failures,
            None => tried.push(Attempt {
                key,
                id: one.id,
                worked,
                words,
                failures,
            }),
        }
    }
    let (worked, failed): (Vec<_>, Vec<_>) = tried.into_iter().partition(|one| one.worked);
    let mut items = items_of(failed, FAILED_WORTH);
    items.extend(items_of(worked, WORKED_WORTH));
    Ok(items)
}

/// Worth of the newest failed attempt at the task itself.
const FAILED_WORTH: f64 = 0.4;
/// Worth of the newest successful attempt.
const WORKED_WORTH: f64 = 0.2;
/// Worth of the newest artifact.
const ARTIFACT_WORTH: f64 = 0.1;
/// Factor of worth from one item to the next older one.
const OLDER_FACTOR: f64 = 0.97;

fn items_of(attempts: Vec<Attempt>, mut worth: f64) -> Vec<ContextItem> {
    let mut items = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        items.push(ContextItem {
            rating: own_rating(worth),
            ..attempt.item()
        });
        worth *= OLDER_FACTOR;
    }
    items
}

/// Returns the rating of an item of the task itself, which is not compared with the question.
fn own_rating(worth: f64) -> Rating {
    Rating {
        tier: Tier::Competing,
        relevance: None,
        worth,
    }
}

/// Returns the artifacts of a task that are more than modified files, newest first; `found` is oldest first.
pub(in crate::engine) fn artifact_items(found: &[Record]) -> Vec<ContextItem> {
    let newest = found.iter().rev().take(limits::CONTEXT_ARTIFACTS_MAX);
    let mut items: Vec<ContextItem> = newest.map(artifact_item).collect();
    let mut worth = ARTIFACT_WORTH;
    for item in &mut items {
        item.rating = own_rating(worth);
        worth *= OLDER_FACTOR;
    }
    items
}

impl Attempt {
    fn item(self) -> ContextItem {
        let how = match (self.worked, self.failures) {
            (true, 0) => "Worked".to_owned(),
            (true, 1) => "Worked after a failure".to_owned(),
            (true, n) => format!("Worked after {n} failures"),
            (false, 1) => "Failed".to_owned(),
            (false, n) => format!("Failed {n} times"),
        };
        ContextItem {
            id: Some(self.id),
            text: format!("{how}: {}", self.words),
            ..ContextItem::default()
        }
    }
}

/// Returns true for success, false for failure, and `None` if the outcome is unknown.
fn success_of(one: &EpisodeRow) -> Option<bool> {
    match one.action? {
        EpisodeAction::Completed => Some(true),
        EpisodeAction::Failed => Some(false),
        EpisodeAction::Attempted | EpisodeAction::Retried => None,
    }
}

/// Returns the text of an episode: the line of a case, or the approach and its outcome, unless that is only an exit
/// status. Iterations without an approach are left out, because their errors and steps are more informative.
fn episode_text(one: &EpisodeRow, record: &Record, echoes: &Echoes) -> Option<String> {
    let is_new = |text: &str| !echoes.has(text);
    if let Some(line) = case_line(record, limits::CASE_LINE_CHARS_MAX) {
        return Some(line).filter(|_| one.approach.as_deref().is_none_or(is_new));
    }
    let outcome = one.outcome.as_deref();
    match (&one.approach, outcome.filter(|text| !is_exit_status(text))) {
        (Some(approach), Some(outcome)) if is_new(approach) => {
            Some(format!("{approach}: {outcome}"))
        }
        (Some(_), Some(outcome)) => Some(outcome.to_owned()).filter(|outcome| is_new(outcome)),
        (Some(approach), None) => Some(approach.clone()).filter(|approach| is_new(approach)),
        (None, Some(outcome)) if record.scope.iteration.is_none() => Some(outcome.to_owned()),
        (None, _) => None,
    }
}

/// Returns true if an artifact has more information than a modified file.
pub(in crate::engine) fn is_described(artifact: &Record) -> bool {
    artifact.attr_str("type") != Some(ARTIFACT_FILE) || artifact.attr_str("description").is_some()
}

fn artifact_item(artifact: &Record) -> ContextItem {
    let kind = artifact.attr_str("type").unwrap_or(ARTIFACT_FILE);
    let path = &artifact.text;
    let text = match artifact.attr_str("description") {
        Some(description) => format!("{path} ({kind}): {description}"),
        None => format!("{path} ({kind})"),
    };
    ContextItem {
        id: Some(artifact.id),
        text,
        ..ContextItem::default()
    }
}

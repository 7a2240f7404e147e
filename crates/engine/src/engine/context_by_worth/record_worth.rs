//! Rating of records and offers for the selection of a context by worth.

use crate::engine::context::is_standing_rule;
use heirloom_model::kinds::{CATEGORY_LEARNING, EpisodeAction};
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::record_meaning::known_resolution;
use heirloom_model::{Kind, Record, RecordId, Timestamp, mark};
use heirloom_search::recall::Ranked;
use heirloom_search::relevance::CONTEXT_FLOOR;
use serde_json::Value;
use std::collections::HashMap;

/// Half-life of recency, days.
const HALF_LIFE_DAYS: f64 = 30.0;
/// Factor of failed attempts and resolved errors: repeating a mistake costs more than not knowing a fact.
const LESSON_FACTOR: f64 = 1.3;
/// Number of confirmations from which more do not add worth.
const CONFIRMATIONS_MAX: f64 = 4.0;
/// Number of usefulness marks from which more do not add worth.
const USEFUL_MAX: f64 = 4.0;
/// Worth of a record without a question in addition to its recency, so that old records keep an order.
const BASE_WORTH: f64 = 0.1;

/// Rating of records for one question.
#[derive(Debug)]
pub(super) struct RecordRater {
    /// Relevance of the hits of recall; `None` without a question.
    relevance: Option<HashMap<RecordId, f64>>,
    /// Relevance of records that are no hits: less than that of the last one.
    other_relevance: f64,
    /// The task, whose own records are never below the floor.
    task: String,
    now: Timestamp,
    /// Relevance below which a competing record is left out.
    floor: f64,
}

impl RecordRater {
    /// Creates a rater for the hits of a question; `None` without a question.
    pub(super) fn new(hits: Option<&[Ranked]>, task: &str, now: Timestamp) -> Self {
        let rated = |hits: &[Ranked]| -> HashMap<RecordId, f64> {
            let all = hits.iter();
            all.map(|hit| (hit.item.id(), hit.relevance.unwrap_or(0.0)))
                .collect()
        };
        let relevance = hits.map(rated);
        let least = relevance
            .iter()
            .flat_map(HashMap::values)
            .copied()
            .fold(CONTEXT_FLOOR, f64::min);
        Self {
            relevance,
            other_relevance: least / 2.0,
            task: task.to_owned(),
            now,
            floor: 0.0,
        }
    }

    /// Sets the relevance below which competing records are left out. Standing rules of people below it follow at the
    /// end instead.
    pub(super) fn with_floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// Returns true if competing records below a relevance are left out.
    pub(super) fn has_floor(&self) -> bool {
        self.floor > 0.0
    }

    /// Returns the rating of a record that competes; one of the task itself does so even below the floor.
    pub(super) fn rate(&self, record: &Record) -> Rating {
        let relevance = self.relevance.as_ref().map(|known| {
            let found = known.get(&record.id).copied();
            found.unwrap_or(self.other_relevance)
        });
        let is_own = record.scope.task.as_deref() == Some(&*self.task);
        let is_below = relevance.is_some_and(|relevance| relevance < self.floor);
        let tier = match is_own {
            true => Tier::Exempt,
            false if is_below && is_standing_rule(record) => Tier::Tail,
            false => Tier::Competing,
        };
        Rating {
            tier,
            relevance,
            worth: self.worth(record, relevance),
        }
    }

    /// Returns the rating of a record that concerns the task itself, so that its relevance is not compared.
    pub(super) fn rate_own(&self, record: &Record, relevance: f64, tier: Tier) -> Rating {
        Rating {
            tier,
            relevance: None,
            worth: self.worth(record, Some(relevance)),
        }
    }

    fn worth(&self, record: &Record, relevance: Option<f64>) -> f64 {
        let recency = self.recency(record);
        let more = (confirmations(record) + usefulness(record)) / 4.0;
        let kind = if is_lesson(record) {
            LESSON_FACTOR
        } else {
            1.0
        };
        let worth = match relevance {
            Some(relevance) => relevance * (1.0 + recency / 4.0 + more),
            None => BASE_WORTH + recency + more,
        };
        (worth * kind * record.confidence.get()).max(0.0)
    }

    /// Returns 1 for a new record and half of it after each half-life.
    fn recency(&self, record: &Record) -> f64 {
        let seconds = self
            .now
            .as_second()
            .saturating_sub(record.recorded_at.as_second())
            .max(0);
        #[expect(clippy::cast_precision_loss, reason = "an age in seconds")]
        let days = seconds as f64 / 86_400.0;
        0.5_f64.powf(days / HALF_LIFE_DAYS)
    }
}

/// Returns true for failed attempts, errors with a known fix, and learnings.
fn is_lesson(record: &Record) -> bool {
    match record.kind {
        Kind::Error => known_resolution(record).is_some(),
        Kind::Episode => record.attr_str("action") == Some(EpisodeAction::Failed.as_str()),
        Kind::Knowledge => record.category() == Some(CATEGORY_LEARNING),
        Kind::Task | Kind::Step | Kind::Artifact | Kind::Output | Kind::Note | Kind::Summary => {
            false
        }
    }
}

/// Returns the confirmations of a record, 0 to 1.
fn confirmations(record: &Record) -> f64 {
    let count = |name| record.attrs.get(name).and_then(Value::as_f64);
    let count = count("confirmations")
        .or_else(|| count("repeats"))
        .unwrap_or(0.0);
    (count / CONFIRMATIONS_MAX).clamp(0.0, 1.0)
}

/// Returns the usefulness of a record, -1 to 1.
fn usefulness(record: &Record) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let count = mark::useful_count(&record.attrs) as f64;
    (count / USEFUL_MAX).clamp(-1.0, 1.0)
}

/// Worth of the offers of a source that is not compared with the question: the worth of the first one, and the
/// factor from one to the next. Relevance of a fact that answers the question is about 0.5.
pub(super) fn source_worth(source: &str) -> (f64, f64) {
    match source {
        "plan" => (0.5, 0.97),
        "output" => (0.4, 0.9),
        "group" => (0.25, 0.9),
        "user" => (0.2, 0.97),
        "outputs" => (0.2, 0.9),
        "workspace" => (0.15, 0.9),
        "team" => (0.1, 0.97),
        "architecture" => (0.08, 0.97),
        "files" | "codebase" => (0.05, 0.97),
        _ => (0.1, 0.97),
    }
}

//! JSON of records, writes and events in the HTTP API, on which clients rely.

use crate::records_by_id::find_any;
use heirloom_engine::{AppliedChange, Engine, RememberReport, Verdict};
use heirloom_model::kinds::Knowledge as Known;
use heirloom_model::{Event, Fault, KindData, Record, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Long-term knowledge.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Knowledge {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) category: String,
    pub(super) key: Option<String>,
    /// The value.
    pub(super) value: String,
    /// Source of the value.
    pub(super) source: String,
    /// Confidence of the source, from 0 to 1.
    pub(super) confidence: f64,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Time of the last write or confirmation.
    #[schema(format = DateTime)]
    pub(super) updated_at: String,
    /// Reason of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rationale: Option<String>,
    /// Number of confirmations.
    pub(super) confirmations: u64,
    /// True for a value that an agent proposed.
    pub(super) proposal: bool,
    /// True if sources disagree and the conflict is not resolved.
    pub(super) disputed: bool,
    pub(super) pinned: bool,
    pub(super) muted: bool,
    #[serde(flatten)]
    pub(super) at: RecordScope,
}

/// Scope of a record.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecordScope {
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) plan: Option<String>,
    pub(super) group: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) phase: Option<String>,
    pub(super) iteration: Option<u32>,
}

impl RecordScope {
    pub(super) fn of(record: &Record) -> Self {
        let scope = &record.scope;
        Self {
            task_id: scope.task.clone(),
            agent_id: scope.agent.clone(),
            plan: scope.plan.clone(),
            group: scope.group.clone(),
            session_id: scope.session.clone(),
            phase: scope.phase.clone(),
            iteration: scope.iteration,
        }
    }
}

pub(super) fn knowledge(record: &Record) -> Knowledge {
    // Attributes of another version must not hide the text.
    let known = Known::from_record(record).ok();
    let attr = |name: &str| record.attr_str(name).map(str::to_owned);
    let is = |name: &str| record.attrs.get(name).and_then(Value::as_bool) == Some(true);
    let confirmations = record.attrs.get("confirmations").and_then(Value::as_u64);
    Knowledge {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        category: attr("category").unwrap_or_else(|| "fact".to_owned()),
        key: record.key.clone(),
        value: record.text.clone(),
        source: record.source.clone(),
        confidence: record.confidence.get(),
        created_at: record.recorded_at.to_string(),
        updated_at: attr("confirmed_at").unwrap_or_else(|| record.recorded_at.to_string()),
        rationale: attr("rationale"),
        confirmations: confirmations.unwrap_or(0),
        proposal: record.is_proposal(),
        disputed: known.as_ref().is_some_and(|known| known.disputed),
        pinned: is("pinned"),
        muted: is("muted"),
        at: RecordScope::of(record),
    }
}

/// One attempt at a task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Episode {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    /// attempted, completed, failed or retried.
    pub(super) action: Option<String>,
    pub(super) approach: Option<String>,
    pub(super) outcome: Option<String>,
    pub(super) duration_ms: Option<u64>,
    pub(super) tokens_in: Option<u64>,
    pub(super) tokens_out: Option<u64>,
    pub(super) source: String,
    pub(super) phase: Option<String>,
    pub(super) iteration: Option<u32>,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
}

pub(super) fn episode(record: &Record) -> Episode {
    let attr = |name: &str| record.attr_str(name).map(str::to_owned);
    let number = |name: &str| record.attrs.get(name).and_then(Value::as_u64);
    Episode {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        task_id: record.scope.task.clone(),
        agent_id: record.scope.agent.clone(),
        action: attr("action"),
        approach: attr("approach"),
        outcome: attr("outcome"),
        duration_ms: number("duration_ms"),
        tokens_in: number("tokens_in"),
        tokens_out: number("tokens_out"),
        source: record.source.clone(),
        phase: record.scope.phase.clone(),
        iteration: record.scope.iteration,
        created_at: record.recorded_at.to_string(),
    }
}

/// A file that a task produced.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Artifact {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    /// file, patch, test, document or config.
    #[serde(rename = "type")]
    pub(super) artifact_type: Option<String>,
    /// Relative to the project's root.
    pub(super) path: String,
    pub(super) description: Option<String>,
    pub(super) size_bytes: Option<u64>,
    /// SHA-256.
    pub(super) checksum: Option<String>,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// unchanged, changed, missing or unknown; only after a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

pub(super) fn artifact(record: &Record) -> Artifact {
    let attr = |name: &str| record.attr_str(name).map(str::to_owned);
    Artifact {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        task_id: record.scope.task.clone(),
        agent_id: record.scope.agent.clone(),
        artifact_type: attr("type"),
        path: attr("path").unwrap_or_else(|| record.text.clone()),
        description: attr("description"),
        size_bytes: record.attrs.get("size_bytes").and_then(Value::as_u64),
        checksum: attr("checksum"),
        created_at: record.recorded_at.to_string(),
        status: None,
        problem: None,
    }
}

/// A record of any kind: its columns and the attributes of its kind.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnyRecord {
    pub(super) id: String,
    pub(super) project: String,
    /// knowledge, task, step, error, episode, artifact, output, note or summary.
    pub(super) kind: String,
    pub(super) key: Option<String>,
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) at: RecordScope,
    pub(super) source: String,
    pub(super) confidence: f64,
    pub(super) tokens: u32,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    #[schema(format = DateTime)]
    pub(super) true_from: Option<String>,
    #[schema(format = DateTime)]
    pub(super) true_to: Option<String>,
    #[schema(format = DateTime)]
    pub(super) retired_at: Option<String>,
    pub(super) replaced_by: Option<String>,
    /// Attributes of its kind.
    pub(super) attrs: Map<String, Value>,
}

pub(super) fn record(record: &Record) -> AnyRecord {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    AnyRecord {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        kind: record.kind.as_str().to_owned(),
        key: record.key.clone(),
        text: record.text.clone(),
        at: RecordScope::of(record),
        source: record.source.clone(),
        confidence: record.confidence.get(),
        tokens: record.tokens,
        created_at: record.recorded_at.to_string(),
        true_from: time(record.true_from),
        true_to: time(record.true_to),
        retired_at: time(record.retired_at),
        replaced_by: record.replaced_by.map(|id| id.to_string()),
        attrs: record.attrs.clone(),
    }
}

/// Result of a write.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WriteOutcome {
    /// The record that was created, confirmed or changed.
    pub(super) id: String,
    /// created, confirmed, replaced, conflict, unchanged, retired, restored, resolved, reopened or marked.
    pub(super) outcome: String,
    /// The winner, if this record lost a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) winner: Option<String>,
    /// The record that it replaced, or that lost a conflict to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaced: Option<String>,
    /// Kinds of removed secrets, one for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) redacted: Vec<String>,
}

impl WriteOutcome {
    pub(super) fn simple(id: impl std::fmt::Display, outcome: &str) -> Self {
        Self {
            id: id.to_string(),
            outcome: outcome.to_owned(),
            winner: None,
            replaced: None,
            redacted: Vec::new(),
        }
    }
}

impl From<AppliedChange> for WriteOutcome {
    fn from(applied: AppliedChange) -> Self {
        let other = applied.other.map(|id| id.to_string());
        let lost = applied.verdict == Verdict::Conflict;
        let mut outcome = Self::simple(applied.id, applied.verdict.as_str());
        match lost {
            true => outcome.winner = other,
            false => outcome.replaced = other,
        }
        outcome
    }
}

impl From<RememberReport> for WriteOutcome {
    fn from(remembered: RememberReport) -> Self {
        Self {
            winner: remembered.winner.map(|id| id.to_string()),
            replaced: remembered.replaced.map(|id| id.to_string()),
            redacted: remembered.redacted,
            ..Self::simple(remembered.id, remembered.verdict.as_str())
        }
    }
}

/// Audit event.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct EventEntry {
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// created, replaced, conflict, confirmed, retired, restored, resolved, reopened, imported, reversed, purged or
    /// marked.
    pub(crate) action: String,
    /// Actor.
    pub(crate) by: String,
    /// The record.
    pub(crate) id: Option<String>,
    /// The other record involved.
    pub(crate) other: Option<String>,
    /// The import batch.
    pub(crate) import: Option<String>,
    pub(crate) detail: Option<String>,
    /// Kind of the record; absent with the next three if the record was purged, or an import is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// Key of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// Category of knowledge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    /// Task of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<String>,
}

impl EventEntry {
    /// Adds the fields of the event's record.
    fn describe(&mut self, record: &Record) {
        self.kind = Some(record.kind.as_str().to_owned());
        self.key.clone_from(&record.key);
        self.category = record.attr_str("category").map(str::to_owned);
        self.task_id.clone_from(&record.scope.task);
    }

    /// Returns the fields of the event alone: they do not change when its record is purged.
    pub(crate) fn without_record(&self) -> Self {
        Self {
            kind: None,
            key: None,
            category: None,
            task_id: None,
            ..self.clone()
        }
    }
}

/// Converts events, and reads their records.
pub(crate) fn event_entries(engine: &Engine, events: &[Event]) -> Result<Vec<EventEntry>, Fault> {
    let records = find_any(engine, events.iter().filter_map(|event| event.record))?;
    let described = events.iter().map(|event| {
        let mut entry = event_entry(event);
        if let Some(record) = event.record.and_then(|id| records.get(&id)) {
            entry.describe(record);
        }
        entry
    });
    Ok(described.collect())
}

fn event_entry(event: &Event) -> EventEntry {
    EventEntry {
        at: event.at.to_string(),
        action: event.action.as_str().to_owned(),
        by: event.by.clone(),
        id: event.record.map(|id| id.to_string()),
        other: event.other.map(|id| id.to_string()),
        import: event.batch.map(|id| id.to_string()),
        detail: event.detail.clone().map(|detail| detail.to_string()),
        kind: None,
        key: None,
        category: None,
        task_id: None,
    }
}

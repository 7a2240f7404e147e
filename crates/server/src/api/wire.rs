//! The JSON that clients rely on: stable forms of what the engine answers.

use heirloom_engine::recall::{Item, Ranked};
use heirloom_engine::{Applied, Remembered, Verdict};
use heirloom_model::kinds::Knowledge as Known;
use heirloom_model::{Event, KindData, Message, Record, Session, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A piece of long-term knowledge.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Knowledge {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) category: String,
    pub(super) key: Option<String>,
    /// What is known.
    pub(super) value: String,
    /// Who says so.
    pub(super) source: String,
    /// How sure that source is, from 0 to 1.
    pub(super) confidence: f64,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// When it was written, or last said again.
    #[schema(format = DateTime)]
    pub(super) updated_at: String,
    /// Why, for decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rationale: Option<String>,
    /// How often it was said again.
    pub(super) confirmations: u64,
    /// Whether it is an agent's word.
    pub(super) proposal: bool,
    /// Whether sources disagree, and nobody has decided.
    pub(super) disputed: bool,
    pub(super) pinned: bool,
    pub(super) muted: bool,
    #[serde(flatten)]
    pub(super) at: Place,
}

/// Where a record belongs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Place {
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) plan: Option<String>,
    pub(super) group: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) phase: Option<String>,
    pub(super) iteration: Option<u32>,
}

impl Place {
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
    // Attributes of another version are no reason to keep the text back: it is told without them.
    let known = Known::of(record).ok();
    let said = |name: &str| record.attr_str(name).map(str::to_owned);
    let is = |name: &str| record.attrs.get(name).and_then(Value::as_bool) == Some(true);
    let confirmations = record.attrs.get("confirmations").and_then(Value::as_u64);
    Knowledge {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        category: said("category").unwrap_or_else(|| "fact".to_owned()),
        key: record.key.clone(),
        value: record.text.clone(),
        source: record.source.clone(),
        confidence: record.confidence.get(),
        created_at: record.recorded_at.to_string(),
        updated_at: said("confirmed_at").unwrap_or_else(|| record.recorded_at.to_string()),
        rationale: said("rationale"),
        confirmations: confirmations.unwrap_or(0),
        proposal: known.as_ref().is_some_and(|known| known.proposal),
        disputed: known.as_ref().is_some_and(|known| known.disputed),
        pinned: is("pinned"),
        muted: is("muted"),
        at: Place::of(record),
    }
}

/// One try at a task.
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
    let said = |name: &str| record.attr_str(name).map(str::to_owned);
    let number = |name: &str| record.attrs.get(name).and_then(Value::as_u64);
    Episode {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        task_id: record.scope.task.clone(),
        agent_id: record.scope.agent.clone(),
        action: said("action"),
        approach: said("approach"),
        outcome: said("outcome"),
        duration_ms: number("duration_ms"),
        tokens_in: number("tokens_in"),
        tokens_out: number("tokens_out"),
        source: record.source.clone(),
        phase: record.scope.phase.clone(),
        iteration: record.scope.iteration,
        created_at: record.recorded_at.to_string(),
    }
}

/// A file that a task leaves behind.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Artifact {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    /// file, patch, test, document or config.
    #[serde(rename = "type")]
    pub(super) sort: Option<String>,
    /// Relative to the project's root.
    pub(super) path: String,
    pub(super) description: Option<String>,
    pub(super) size_bytes: Option<u64>,
    /// SHA-256.
    pub(super) checksum: Option<String>,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// unchanged, changed, missing or unknown; only where it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

pub(super) fn artifact(record: &Record) -> Artifact {
    let said = |name: &str| record.attr_str(name).map(str::to_owned);
    Artifact {
        id: record.id.to_string(),
        project: record.project.as_str().to_owned(),
        task_id: record.scope.task.clone(),
        agent_id: record.scope.agent.clone(),
        sort: said("type"),
        path: said("path").unwrap_or_else(|| record.text.clone()),
        description: said("description"),
        size_bytes: record.attrs.get("size_bytes").and_then(Value::as_u64),
        checksum: said("checksum"),
        created_at: record.recorded_at.to_string(),
        status: None,
        problem: None,
    }
}

/// Any record: its columns, and the attributes of its kind beside them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnyRecord {
    pub(super) id: String,
    pub(super) project: String,
    /// knowledge, task, step, error, episode, artifact, output, note or summary.
    pub(super) kind: String,
    pub(super) key: Option<String>,
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) at: Place,
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
    /// What its kind says of it besides.
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
        at: Place::of(record),
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

/// What became of a write.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Outcome {
    /// The record: the new one, or the one that was confirmed or changed.
    pub(super) id: String,
    /// created, confirmed, replaced, conflict, unchanged, retired, restored, resolved, reopened or marked.
    pub(super) outcome: String,
    /// Who won, if it lost a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) winner: Option<String>,
    /// What it took the place of, or what lost its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaced: Option<String>,
    /// The kinds of secrets that were left out, one for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) redacted: Vec<String>,
}

impl Outcome {
    pub(super) fn plain(id: impl std::fmt::Display, outcome: &str) -> Self {
        Self {
            id: id.to_string(),
            outcome: outcome.to_owned(),
            winner: None,
            replaced: None,
            redacted: Vec::new(),
        }
    }
}

impl From<Applied> for Outcome {
    fn from(applied: Applied) -> Self {
        let other = applied.other.map(|id| id.to_string());
        let lost = applied.verdict == Verdict::Conflict;
        let mut outcome = Self::plain(applied.id, applied.verdict.as_str());
        match lost {
            true => outcome.winner = other,
            false => outcome.replaced = other,
        }
        outcome
    }
}

impl From<Remembered> for Outcome {
    fn from(remembered: Remembered) -> Self {
        Self {
            winner: remembered.winner.map(|id| id.to_string()),
            redacted: remembered.redacted,
            ..Self::plain(remembered.id, remembered.verdict.as_str())
        }
    }
}

/// One thing that was recalled.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Hit {
    pub(super) id: String,
    /// The record's kind; `message` for a turn of a conversation.
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) score: f64,
    pub(super) source: String,
    pub(super) key: Option<String>,
    pub(super) category: Option<String>,
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) session_id: Option<String>,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Near-duplicates that stand behind it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) folded: Vec<String>,
    /// What its score is made of, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(super) parts: Option<Map<String, Value>>,
}

pub(super) fn hit(hit: &Ranked, with_parts: bool) -> Hit {
    let (record, session) = match &hit.item {
        Item::Record(record) => (Some(record), record.scope.session.clone()),
        Item::Turn { session, .. } => (None, Some(session.clone())),
    };
    let kind = record.map_or("message", |record| record.kind.as_str());
    let parts = hit.parts.named().into_iter();
    let parts = parts.map(|(name, part)| (name.to_owned(), Value::from(rounded(part))));
    Hit {
        id: hit.item.id().to_string(),
        kind: kind.to_owned(),
        text: hit.item.text().to_owned(),
        score: rounded(hit.parts.total),
        source: hit.item.source().to_owned(),
        key: record.and_then(|record| record.key.clone()),
        category: record.and_then(|record| record.category().map(str::to_owned)),
        task_id: record.and_then(|record| record.scope.task.clone()),
        agent_id: record.and_then(|record| record.scope.agent.clone()),
        session_id: session,
        created_at: hit.item.recorded_at().to_string(),
        folded: hit.folded.iter().map(ToString::to_string).collect(),
        parts: with_parts.then(|| parts.collect()),
    }
}

/// A score as it is told: the last digits say nothing.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// One thing that happened.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Happened {
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// created, replaced, conflict, confirmed, retired, restored, resolved, reopened, imported, reversed, purged or
    /// marked.
    pub(crate) action: String,
    /// Who did it.
    pub(crate) by: String,
    /// The record.
    pub(crate) id: Option<String>,
    /// The other record that it was about.
    pub(crate) other: Option<String>,
    /// The import that it belongs to.
    pub(crate) import: Option<String>,
    pub(crate) detail: Option<String>,
}

pub(crate) fn happened(event: &Event) -> Happened {
    Happened {
        at: event.at.to_string(),
        action: event.action.as_str().to_owned(),
        by: event.by.clone(),
        id: event.record.map(|id| id.to_string()),
        other: event.other.map(|id| id.to_string()),
        import: event.batch.map(|id| id.to_string()),
        detail: event.detail.clone().map(|detail| detail.to_string()),
    }
}

/// A conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Talk {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) agent_id: Option<String>,
    pub(super) task_id: Option<String>,
    #[schema(format = DateTime)]
    pub(super) started_at: String,
    #[schema(format = DateTime)]
    pub(super) ended_at: Option<String>,
}

pub(super) fn talk(session: &Session) -> Talk {
    Talk {
        id: session.id.clone(),
        project: session.project.as_str().to_owned(),
        agent_id: session.agent.clone(),
        task_id: session.task.clone(),
        started_at: session.started_at.to_string(),
        ended_at: session.ended_at.map(|at| at.to_string()),
    }
}

/// A turn of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) session_id: String,
    /// Its place, from 0.
    pub(super) seq: u64,
    /// user, assistant, system, tool_call or tool_result.
    pub(super) role: String,
    pub(super) sender: Option<String>,
    pub(super) text: String,
    pub(super) tokens: u32,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
}

pub(super) fn turn(session: &str, message: &Message) -> Turn {
    Turn {
        id: message.id.to_string(),
        session_id: session.to_owned(),
        seq: message.seq,
        role: message.role.as_str().to_owned(),
        sender: message.sender.clone(),
        text: message.text.clone(),
        tokens: message.tokens,
        created_at: message.at.to_string(),
    }
}

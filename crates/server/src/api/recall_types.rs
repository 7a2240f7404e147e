//! JSON of recall hits and their scores.

use heirloom_model::record_meaning::record_meaning;
use heirloom_search::recall::{Ranked, RecallItem};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use utoipa::ToSchema;

/// A search hit.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecallHit {
    pub(super) id: String,
    /// Kind of the record; `message` for a conversation turn.
    pub(super) kind: String,
    pub(super) text: String,
    /// Text with the fix of an error, the reason of a decision or the outcome of an episode, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meaning: Option<String>,
    pub(super) score: f64,
    /// Calibrated chance that it is about the query, 0 to 1; missing if the query has only filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub(super) relevance: Option<f64>,
    /// Grade of the relevance: strong, likely, possible or weak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) grade: Option<String>,
    pub(super) source: String,
    pub(super) key: Option<String>,
    pub(super) category: Option<String>,
    pub(super) task_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) session_id: Option<String>,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Ids of near-duplicates, grouped under this hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) folded: Vec<String>,
    /// Parts of its score, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(super) parts: Option<Map<String, Value>>,
}

pub(super) fn recall_hit(hit: &Ranked, with_parts: bool) -> RecallHit {
    let (record, session) = match &hit.item {
        RecallItem::Record(record) => (Some(record), record.scope.session.clone()),
        RecallItem::Turn { session, .. } => (None, Some(session.clone())),
    };
    let kind = record.map_or("message", |record| record.kind.as_str());
    let parts = hit.breakdown.labelled().into_iter();
    let parts = parts.map(|(name, part)| (name.to_owned(), Value::from(round_score(part))));
    RecallHit {
        id: hit.item.id().to_string(),
        kind: kind.to_owned(),
        text: hit.item.text().to_owned(),
        meaning: record
            .map(|record| record_meaning(record))
            .filter(|meaning| meaning != hit.item.text())
            .map(Cow::into_owned),
        score: round_score(hit.breakdown.total),
        relevance: hit.relevance.map(round_score),
        grade: hit.grade().map(|grade| grade.as_str().to_owned()),
        source: hit.item.source().to_owned(),
        key: record.and_then(|record| record.key.clone()),
        category: record.and_then(|record| record.category().map(str::to_owned)),
        task_id: record.and_then(|record| record.scope.task.clone()),
        agent_id: record.and_then(|record| record.scope.agent.clone()),
        session_id: session,
        created_at: hit.item.recorded_at().to_string(),
        folded: hit.duplicates.iter().map(ToString::to_string).collect(),
        parts: with_parts.then(|| parts.collect()),
    }
}

/// Rounds a score to four decimals; more digits carry no information.
pub(super) fn round_score(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

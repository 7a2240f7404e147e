//! Attempts, built from the episodes that open and end them.

use super::approach::approach_key;
use heirloom_model::kinds::{Episode, EpisodeAction};
use heirloom_model::{KindData, Record, RecordId, Timestamp};
use std::collections::HashMap;

/// The fields of an episode that analytics use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeRow {
    /// Id of the episode.
    pub id: RecordId,
    /// Time of the record.
    pub at: Timestamp,
    /// Its task.
    pub task: Option<String>,
    /// The agent, else the source of the record.
    pub agent: Option<String>,
    /// The action; `None` for an action of a newer version.
    pub action: Option<EpisodeAction>,
    /// The approach.
    pub approach: Option<String>,
    /// The outcome.
    pub outcome: Option<String>,
    /// Duration.
    pub duration_ms: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
}

impl EpisodeRow {
    /// Reads an episode from a record; `None` if the record is not a valid episode.
    pub fn from_record(record: &Record) -> Option<Self> {
        let typed = Episode::from_record(record).ok()?;
        let tokens = match (typed.tokens_in, typed.tokens_out) {
            (None, None) => None,
            (read, written) => Some(read.unwrap_or(0).saturating_add(written.unwrap_or(0))),
        };
        Some(Self {
            id: record.id,
            at: record.recorded_at,
            task: record.scope.task.clone(),
            agent: (record.scope.agent.clone()).or_else(|| Some(record.source.clone())),
            action: typed.action.parse().ok(),
            approach: typed.approach.filter(|words| !words.trim().is_empty()),
            outcome: typed.outcome,
            duration_ms: typed.duration_ms,
            tokens,
        })
    }
}

/// An attempt, recorded by one or two episodes.
pub(super) struct Attempt<'e> {
    /// Key of the approach, see [`approach_key`].
    pub(super) key: Option<String>,
    /// The last episode.
    pub(super) last: &'e EpisodeRow,
    /// The episode that opened the attempt, if another one ended it.
    opened: Option<&'e EpisodeRow>,
}

impl Attempt<'_> {
    pub(super) fn succeeded(&self) -> bool {
        self.last.action == Some(EpisodeAction::Completed)
    }

    pub(super) fn failed(&self) -> bool {
        self.last.action == Some(EpisodeAction::Failed)
    }

    pub(super) fn duration_ms(&self) -> Option<u64> {
        let opened = self.opened.and_then(|one| one.duration_ms);
        self.last.duration_ms.or(opened)
    }

    pub(super) fn tokens(&self) -> Option<u64> {
        let opened = self.opened.and_then(|one| one.tokens);
        self.last.tokens.or(opened)
    }
}

/// Key that links the end of an attempt to its start: task, agent and approach.
type AttemptKey<'e> = (Option<&'e str>, Option<&'e str>, Option<String>);

/// Builds the attempts from `episodes`, oldest first. An end belongs to the newest open attempt with the same key.
pub(super) fn build_attempts(episodes: &[EpisodeRow]) -> Vec<Attempt<'_>> {
    let mut in_order: Vec<_> = episodes.iter().collect();
    in_order.sort_by_key(|one| (one.at, one.id));
    let mut attempts: Vec<Attempt<'_>> = Vec::with_capacity(in_order.len());
    let mut open: HashMap<AttemptKey<'_>, Vec<usize>> = HashMap::new();
    for one in in_order {
        let key = one.approach.as_deref().map(approach_key);
        let waiting = open
            .entry((one.task.as_deref(), one.agent.as_deref(), key.clone()))
            .or_default();
        let ends = matches!(
            one.action,
            Some(EpisodeAction::Completed | EpisodeAction::Failed)
        );
        if let Some(at) = waiting.pop_if(|_| ends) {
            let attempt = &mut attempts[at];
            attempt.opened = Some(std::mem::replace(&mut attempt.last, one));
            continue;
        }
        if !ends {
            waiting.push(attempts.len());
        }
        attempts.push(Attempt {
            key,
            last: one,
            opened: None,
        });
    }
    attempts
}

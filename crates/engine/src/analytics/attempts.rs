//! From episodes to attempts: what opens a try and what ends it are one.

use super::approach::approach_key;
use heirloom_model::kinds::{Episode, EpisodeAction};
use heirloom_model::{KindData, Record, RecordId, Timestamp};
use std::collections::HashMap;

/// What of an episode is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episodic {
    /// The episode.
    pub id: RecordId,
    /// When it was told.
    pub at: Timestamp,
    /// Its task.
    pub task: Option<String>,
    /// The agent, else who said so.
    pub agent: Option<String>,
    /// What was done; `None` for an action of a newer version.
    pub action: Option<EpisodeAction>,
    /// What was tried.
    pub approach: Option<String>,
    /// How it went.
    pub outcome: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
}

impl Episodic {
    /// What a record says as an episode; `None` if it is none or cannot be read as one.
    pub fn of(record: &Record) -> Option<Self> {
        let typed = Episode::of(record).ok()?;
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

/// One try, told by one episode or by two.
pub(super) struct Attempt<'e> {
    /// The approach in the form in which two are the same.
    pub(super) key: Option<String>,
    /// What was said last.
    pub(super) last: &'e Episodic,
    /// What had opened it.
    opened: Option<&'e Episodic>,
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

/// What an end has in common with what it ends: task, agent and approach.
type Same<'e> = (Option<&'e str>, Option<&'e str>, Option<String>);

/// The attempts that `episodes` tell, oldest first by when each began. An end belongs to the newest open attempt at the same.
pub(super) fn of(episodes: &[Episodic]) -> Vec<Attempt<'_>> {
    let mut in_order: Vec<_> = episodes.iter().collect();
    in_order.sort_by_key(|one| (one.at, one.id));
    let mut attempts: Vec<Attempt<'_>> = Vec::with_capacity(in_order.len());
    let mut open: HashMap<Same<'_>, Vec<usize>> = HashMap::new();
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

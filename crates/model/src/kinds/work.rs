//! What is being done: tasks, steps, errors and episodes.

use super::{KindData, is_zero, join_key};
use crate::record::Attrs;
use crate::{Kind, Scope, text};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// Being worked on.
    #[default]
    Open,
    /// Finished.
    Done,
    /// Given up.
    Failed,
}

impl TaskState {
    /// Its name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A piece of work. The record's key is the task's id; its scope has the phase and the last iteration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Task {
    /// `issue`, `pr`, or any other word.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The branch it is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<u64>,
    /// Why it cannot go on; empty = it can again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// Where it stands; `None` says nothing new about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Task {
    /// How the task is called in headings: `Issue #42`, `PR #7`, else `Task ID`.
    pub fn title(id: &str, task_type: Option<&str>) -> String {
        match task_type {
            Some(t) if t.eq_ignore_ascii_case("issue") => {
                format!("Issue #{}", id.trim_start_matches('#'))
            }
            Some(t) if t.eq_ignore_ascii_case("pr") => {
                format!("PR #{}", id.trim_start_matches('#'))
            }
            Some(_) | None => format!("Task {id}"),
        }
    }

    /// This task with what `newer` says laid over it.
    #[must_use]
    pub fn overlaid(mut self, newer: Self) -> Self {
        self.task_type = newer.task_type.or(self.task_type);
        self.branch = newer.branch.or(self.branch);
        self.pr_number = newer.pr_number.or(self.pr_number);
        self.blocked_reason = newer
            .blocked_reason
            .or(self.blocked_reason)
            .filter(|why| !why.is_empty());
        self.state = newer.state.or(self.state);
        self.extra.extend(newer.extra);
        self
    }
}

impl KindData for Task {
    const KIND: Kind = Kind::Task;
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// Still to do.
    Pending,
    /// Finished.
    Done,
}

impl StepState {
    /// Its name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
        }
    }
}

/// One step of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Where it stands.
    pub state: StepState,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Step {
    /// A step in this state.
    pub fn in_state(state: StepState) -> Self {
        Self {
            state,
            extra: Attrs::new(),
        }
    }

    /// Its identity: the same words in the same task (case, spaces, end punctuation ignored).
    pub fn key(words: &str, task: Option<&str>) -> String {
        join_key(&[task.unwrap_or(""), &text::hash16(&text::normal(words))])
    }
}

impl KindData for Step {
    const KIND: Kind = Kind::Step;
}

/// Something that went wrong: the attributes of an `error` record, whose text is the error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// `open` or `resolved`.
    pub state: String,
    /// How it was mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// How often it happened again after the first time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u32,
    /// When it last happened again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_at: Option<Timestamp>,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Mistake {
    /// State of an error that nobody has mended.
    pub const OPEN: &'static str = "open";
    /// State of an error that was mended.
    pub const RESOLVED: &'static str = "resolved";

    /// An open error.
    pub fn open() -> Self {
        Self {
            state: Self::OPEN.to_owned(),
            resolution: None,
            repeats: 0,
            repeated_at: None,
            extra: Attrs::new(),
        }
    }

    /// Its identity: the same signature in the same task and phase.
    pub fn key(error: &str, task: Option<&str>, phase: Option<&str>) -> String {
        text::hash_parts(&[
            task.unwrap_or(""),
            phase.unwrap_or(""),
            &text::signature(error),
        ])
    }
}

impl KindData for Mistake {
    const KIND: Kind = Kind::Error;
}

/// What somebody did about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EpisodeAction {
    /// Something was tried; how it ended is not said.
    Attempted,
    /// It worked.
    Completed,
    /// It did not work.
    Failed,
    /// It was tried again; how it ended is not said.
    Retried,
}

impl EpisodeAction {
    /// Every action.
    pub const ALL: [Self; 4] = [
        Self::Attempted,
        Self::Completed,
        Self::Failed,
        Self::Retried,
    ];

    /// Its name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attempted => "attempted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Retried => "retried",
        }
    }
}

/// A word that names no action of an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action: expected attempted, completed, failed or retried")]
pub struct BadAction(pub String);

impl FromStr for EpisodeAction {
    type Err = BadAction;

    fn from_str(word: &str) -> Result<Self, BadAction> {
        let wanted = word.trim().to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|one| one.as_str() == wanted);
        found.ok_or_else(|| BadAction(text::excerpt(word, 60)))
    }
}

/// One try at a task. Its identity, if it has one, is the iteration that it is of; else it is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// `attempted`, `completed`, `failed` or `retried`.
    pub action: String,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    /// How it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Episode {
    /// An episode of which nothing but the action is known.
    pub fn of_action(action: EpisodeAction) -> Self {
        Self {
            action: action.as_str().to_owned(),
            approach: None,
            outcome: None,
            duration_ms: None,
            tokens_in: None,
            tokens_out: None,
            extra: Attrs::new(),
        }
    }

    /// The identity of the episode that one iteration leaves, however often it is told.
    pub fn key(scope: &Scope, iteration: u32) -> String {
        let part = |name: &Option<String>| name.clone().unwrap_or_default();
        text::hash_parts(&[
            "iteration",
            &part(&scope.task),
            &part(&scope.phase),
            &part(&scope.agent),
            &iteration.to_string(),
        ])
    }
}

impl KindData for Episode {
    const KIND: Kind = Kind::Episode;
}

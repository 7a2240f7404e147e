//! Attributes of tasks and their steps.

use super::{KindData, join_key};
use crate::record::Attrs;
use crate::{Kind, text};
use serde::{Deserialize, Serialize};

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// In progress.
    #[default]
    #[serde(rename = "open")]
    Open,
    /// Finished.
    #[serde(rename = "done")]
    Done,
    /// Abandoned.
    #[serde(rename = "failed")]
    Failed,
}

impl TaskState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Failed];

    /// Returns the name in JSON and SQL.
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
    /// Title in a person's words; an empty text removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "title")]
    pub title: Option<String>,
    /// Branch of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "branch")]
    pub branch: Option<String>,
    /// Number of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "pr_number")]
    pub pr_number: Option<u64>,
    /// Reason why the task is blocked; an empty text unblocks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "blocked_reason")]
    pub blocked_reason: Option<String>,
    /// State of the task; `None` in an update leaves it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "state")]
    pub state: Option<TaskState>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Task {
    /// Returns the title for headings: `Issue #42`, `PR #7`, else `Task ID`.
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

    /// Merges a newer version: its fields win where they are present.
    #[must_use]
    pub fn merged_with(mut self, newer: Self) -> Self {
        self.task_type = newer.task_type.or(self.task_type);
        self.title = newer
            .title
            .or(self.title)
            .filter(|title| !title.trim().is_empty());
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

/// State of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// Not done yet.
    #[serde(rename = "pending")]
    Pending,
    /// Finished.
    #[serde(rename = "done")]
    Done,
}

impl StepState {
    /// Both states.
    pub const ALL: [Self; 2] = [Self::Pending, Self::Done];

    /// Returns the name in JSON and SQL.
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
    /// State of the step.
    #[serde(rename = "state")]
    pub state: StepState,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Step {
    /// Creates a step in this state.
    pub fn with_state(state: StepState) -> Self {
        Self {
            state,
            extra: Attrs::new(),
        }
    }

    /// Returns the identity key: task and text, ignoring case, spacing and end punctuation.
    pub fn key(words: &str, task: Option<&str>) -> String {
        join_key(&[task.unwrap_or(""), &text::hash16(&text::normalize(words))])
    }
}

impl KindData for Step {
    const KIND: Kind = Kind::Step;
}

//! State of a task as all pages show it.

use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{ErrorRecord, Task, TaskState};
use heirloom_model::{Fault, Kind, KindData, Record, Scope, text};
use std::collections::HashSet;

/// Maximum number of open errors that are read at once for the states of many tasks.
const ERRORS_READ: usize = 10_000;

/// State of a task: its end, else the reason why it does not proceed, else its phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::page) enum TaskStatus {
    /// It waits for something, with this reason.
    Blocked(String),
    /// It has an open error.
    Failing,
    /// It is in this phase.
    InPhase(String),
    /// None of the others.
    Open,
    /// Finished.
    Done,
    /// Given up.
    Failed,
}

impl TaskStatus {
    /// Keys of the states in addresses with their labels, in the order in which they need a person.
    pub(in crate::page) const GROUPS: [(&'static str, &'static str); 6] = [
        ("failing", "Failing"),
        ("blocked", "Blocked"),
        ("phase", "In progress"),
        ("open", "Open"),
        ("done", "Done"),
        ("failed", "Failed"),
    ];

    /// Loads the state of a task; counts its open errors only where they decide.
    pub(in crate::page) fn load(engine: &Engine, record: &Record) -> Result<Self, Fault> {
        let status = Self::without_errors(record);
        if !matches!(status, Self::InPhase(_) | Self::Open) {
            return Ok(status);
        }
        let id = record.key.as_deref().unwrap_or_default();
        let errors = Filter::current(&[Kind::Error], engine.now())
            .state(ErrorRecord::OPEN)
            .scope(Scope::of_task(id))
            .limit(1);
        Ok(match engine.records().count(&errors)? {
            0 => status,
            _ => Self::Failing,
        })
    }

    /// Returns the state of a task that has no open error.
    pub(in crate::page) fn without_errors(record: &Record) -> Self {
        let task = Task::from_record(record).unwrap_or_default();
        Self::decide(&task, record.scope.phase.as_deref())
    }

    /// Decides the state of a task without an open error from its attributes and its phase.
    fn decide(task: &Task, phase: Option<&str>) -> Self {
        match task.state {
            Some(TaskState::Done) => return Self::Done,
            Some(TaskState::Failed) => return Self::Failed,
            Some(TaskState::Open) | None => {}
        }
        let reason = task.blocked_reason.as_deref();
        if let Some(why) = reason.filter(|why| !why.trim().is_empty()) {
            return Self::Blocked(text::replace_control_chars(why));
        }
        let phase = phase.unwrap_or_default().trim().to_lowercase();
        let phase = text::replace_control_chars(&phase);
        let is_state = Self::GROUPS.iter().any(|(key, _)| *key == phase);
        match phase.is_empty() || is_state {
            true => Self::Open,
            false => Self::InPhase(phase),
        }
    }

    /// Returns the key of the state in addresses.
    pub(in crate::page) fn key(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::Failing => "failing",
            Self::InPhase(_) => "phase",
            Self::Open => "open",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Returns the word that a row shows.
    pub(in crate::page) fn label(&self) -> String {
        match self {
            Self::InPhase(phase) => phase.clone(),
            Self::Blocked(_) | Self::Failing | Self::Open | Self::Done | Self::Failed => {
                self.key().to_owned()
            }
        }
    }

    /// Returns the style class and the icon.
    pub(in crate::page) fn style(&self) -> (&'static str, &'static str) {
        match self {
            Self::Blocked(_) => ("warn", "pause"),
            Self::Failing => ("bad", "error"),
            Self::InPhase(_) => ("k-task", "episode"),
            Self::Open => ("soft", "dash"),
            Self::Done => ("ok", "check"),
            Self::Failed => ("bad", "cross"),
        }
    }

    /// Returns true if the task has ended.
    pub(in crate::page) fn is_over(&self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// Tasks with open errors, read at once for the states of many tasks.
pub(super) struct FailingTasks(Option<HashSet<String>>);

impl FailingTasks {
    /// Reads the open errors. If there are too many, each task counts its own.
    pub(super) fn load(engine: &Engine) -> Result<Self, Fault> {
        let filter = Filter::current(&[Kind::Error], engine.now())
            .state(ErrorRecord::OPEN)
            .limit(ERRORS_READ);
        let errors = engine.records().find(&filter)?;
        let is_all = errors.len() < ERRORS_READ;
        let tasks = errors.into_iter().filter_map(|error| error.scope.task);
        Ok(Self(is_all.then(|| tasks.collect())))
    }

    /// Returns the state of a task.
    pub(super) fn status(&self, engine: &Engine, record: &Record) -> Result<TaskStatus, Fault> {
        let Some(failing) = &self.0 else {
            return TaskStatus::load(engine, record);
        };
        let status = TaskStatus::without_errors(record);
        let can_fail = matches!(status, TaskStatus::InPhase(_) | TaskStatus::Open);
        let id = record.key.as_deref().unwrap_or_default();
        Ok(match can_fail && failing.contains(id) {
            true => TaskStatus::Failing,
            false => status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(state: Option<TaskState>, blocked: Option<&str>) -> Task {
        Task {
            state,
            blocked_reason: blocked.map(str::to_owned),
            ..Task::default()
        }
    }

    #[test]
    fn end_of_task_precedes_block_and_block_precedes_phase() {
        use TaskState::{Done, Failed, Open};
        for (state, blocked, phase, expected) in [
            (Some(Done), Some("key"), Some("TEST"), "done"),
            (Some(Failed), None, Some("TEST"), "failed"),
            (Some(Open), Some("key"), Some("TEST"), "blocked"),
            (Some(Open), Some(" "), Some("TEST"), "test"),
            (None, None, Some("Review"), "review"),
            (None, None, Some("DONE"), "open"),
            (None, None, Some(" "), "open"),
            (Some(Open), None, None, "open"),
        ] {
            let status = TaskStatus::decide(&task(state, blocked), phase);
            assert_eq!(status.label(), expected, "{state:?} {blocked:?} {phase:?}");
            let keys = TaskStatus::GROUPS.map(|(key, _)| key);
            assert!(keys.contains(&status.key()), "{status:?} has no filter");
        }
    }
}

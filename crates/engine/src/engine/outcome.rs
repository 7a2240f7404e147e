//! How an iteration ended: the task moves on, errors open or close.

use super::Engine;
use super::mirrored::MirrorLoad;
use super::new_record::check_scope;
use super::tasks::TaskChange;
use crate::places;
use heirloom_model::kinds::TaskState;
use heirloom_model::{AgentStatus, Fault, Outcome, Scope, limits, text};
use heirloom_store::{Applied, Change};
use std::borrow::Cow;

/// What closes an error whose iteration succeeded, without anybody having said how.
pub(super) const SUCCEEDED: &str = "succeeded";

impl Engine {
    /// Records the outcome of one iteration; one durable step unless it closes thousands of errors.
    ///
    /// It leaves one episode, however often the same iteration is told. Its error opens one error (the same signature in the same task and phase is counted, not doubled);
    /// a success closes the open errors of that task and phase with `succeeded in iteration N`.
    pub fn record_outcome(
        &self,
        scope: &Scope,
        outcome: &Outcome,
        source: &str,
    ) -> Result<Vec<Applied>, Fault> {
        self.apply_decided(|| self.outcome_changes(scope, outcome, source))
    }

    fn outcome_changes(
        &self,
        scope: &Scope,
        outcome: &Outcome,
        source: &str,
    ) -> Result<Vec<Change>, Fault> {
        check_scope(scope)?;
        if outcome.files.len() > limits::FILES_PER_OUTCOME_MAX {
            return Err(Fault::usage(format!(
                "{} files; at most {} are taken with one outcome",
                outcome.files.len(),
                limits::FILES_PER_OUTCOME_MAX
            ))
            .hint("name the folders, or leave out what a tool made"));
        }
        let mut changes = Vec::new();
        if let Some(task) = &scope.task {
            changes.push(self.task_change(task, &task_after(scope, outcome), source)?);
            changes.push(self.iteration_change(task, scope, outcome, source)?);
        }
        for path in &outcome.files {
            let inside = places::normalise_inside(self.root(), path).map_err(|problem| {
                Fault::refused(format!("file `{}`: {problem}", text::excerpt(path, 120)))
            })?;
            changes.push(self.file_change(&inside, scope.clone(), source));
        }
        if outcome.success {
            changes.extend(self.closing_changes(scope, source)?);
        } else if let Some(error) = outcome
            .error
            .as_deref()
            .filter(|error| !error.trim().is_empty())
        {
            let short = end_of(error.trim());
            changes.push(self.error_change(&short, scope.clone(), source)?);
        }
        Ok(changes)
    }

    /// As [`Engine::record_outcome`], for a controller that has a loop of its own: an existing mirror is taken
    /// in first, the session reaches the iteration, and the mirror is written.
    pub fn record_iteration(
        &self,
        task: &str,
        scope: &Scope,
        outcome: &Outcome,
        source: &str,
    ) -> Result<(MirrorLoad, Vec<Applied>), Fault> {
        self.writable()?;
        let loaded = self.load_mirror()?;
        let applied = self.record_outcome(scope, outcome, source)?;
        self.reach_iteration(scope)?;
        self.save_mirror(Some(task))?;
        Ok((loaded, applied))
    }

    fn closing_changes(&self, scope: &Scope, source: &str) -> Result<Vec<Change>, Fault> {
        let mut changes = Vec::new();
        for error in self.open_errors(None)? {
            if error.scope.task == scope.task && error.scope.phase == scope.phase {
                let resolution = match scope.iteration {
                    Some(n) => format!("{SUCCEEDED} in iteration {n}"),
                    None => SUCCEEDED.to_owned(),
                };
                changes.push(self.resolve_change(&error, &resolution, source));
            }
        }
        Ok(changes)
    }
}

/// An error's text; of a long one the end, where the cause mostly stands, behind the mark of a cut.
pub(super) fn end_of(error: &str) -> Cow<'_, str> {
    let most = limits::OUTCOME_TEXT_CHARS_MAX;
    if text::chars(error) <= most {
        return Cow::Borrowed(error);
    }
    Cow::Owned(format!("…{}", text::clip_start(error, most - 1)))
}

fn task_after(scope: &Scope, outcome: &Outcome) -> TaskChange {
    let blocked_reason = match outcome.status {
        AgentStatus::Blocked => {
            let why = outcome.message.clone().filter(|why| !why.trim().is_empty());
            Some(why.unwrap_or_else(|| "blocked, no reason given".to_owned()))
        }
        AgentStatus::Complete => Some(String::new()),
        AgentStatus::Partial | AgentStatus::Failed => None,
    };
    TaskChange {
        phase: scope.phase.clone(),
        branch: outcome.branch.clone(),
        pr_number: outcome.pr_number,
        blocked_reason,
        state: if outcome.status == AgentStatus::Complete && outcome.success {
            Some(TaskState::Done)
        } else {
            Some(TaskState::Open)
        },
        iteration: scope.iteration,
        ..TaskChange::default()
    }
}

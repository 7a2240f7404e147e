//! Outcome of an iteration: updates the task, opens errors, and closes those of a command that passes again.

use super::mirror_writer::MirrorLoadOutcome;
use super::new_record::check_scope;
use super::tasks::{TaskChange, named_task};
use crate::engine::Tasks;
use heirloom_fs::project_fs;
use heirloom_model::kinds::{ErrorRecord, TaskState};
use heirloom_model::record_meaning::is_exit_status;
use heirloom_model::{AgentStatus, Fault, IterationOutcome, Scope, limits, text};
use heirloom_store::{AppliedChange, Change};
use std::borrow::Cow;

impl Tasks<'_> {
    /// Records the outcome of an iteration in one transaction.
    ///
    /// Writes one episode, also if the same iteration is reported repeatedly. A failure opens an error, or counts one
    /// with the same signature in the same task and phase. A success is no evidence about errors, except about those
    /// of the command that the iteration ran: they are closed if the same command, in the same task and phase, passes.
    pub fn record_outcome(
        &self,
        scope: &Scope,
        outcome: &IterationOutcome,
        source: &str,
    ) -> Result<Vec<AppliedChange>, Fault> {
        self.engine
            .apply_decided(|| self.outcome_changes(scope, outcome, source))
    }

    fn outcome_changes(
        &self,
        scope: &Scope,
        outcome: &IterationOutcome,
        source: &str,
    ) -> Result<Vec<Change>, Fault> {
        check_scope(scope)?;
        if outcome.files.len() > limits::FILES_PER_OUTCOME_MAX {
            return Err(Fault::usage(format!(
                "{} files; at most {} are accepted in one outcome",
                outcome.files.len(),
                limits::FILES_PER_OUTCOME_MAX
            ))
            .hint("name folders instead, or leave out generated files"));
        }
        let mut changes = Vec::new();
        if let Some(task) = &scope.task {
            if named_task(Some(task)).is_some() || self.task_record(task)?.is_some() {
                changes.push(self.task_change(task, &task_update(scope, outcome), source)?);
            }
            changes.push(self.iteration_change(task, scope, outcome, source)?);
        }
        for path in &outcome.files {
            let inside = project_fs::normalise_project_path(self.engine.root(), path).map_err(
                |problem| Fault::refused(format!("file `{}`: {problem}", text::excerpt(path, 120))),
            )?;
            let inside = self.engine.redaction().redact_text(&inside);
            let scope = self.engine.redaction().redact_scope(scope.clone());
            changes.push(self.file_change(inside.as_text(), scope, source));
        }
        let launch = outcome.launch.as_ref();
        if let Some(passed) = launch.filter(|launch| launch.has_passed == Some(true)) {
            changes.extend(self.passed_launch_changes(scope, &passed.id, source)?);
        }
        let error = outcome.error.as_deref().filter(|_| !outcome.success);
        if let Some(error) = error.filter(|error| names_cause(error)) {
            let short = self
                .engine
                .redaction()
                .redact_text(&shorten_error(error.trim()));
            let scope = self.engine.redaction().redact_scope(scope.clone());
            let mut change = self
                .engine
                .errors()
                .error_change(short.as_text(), scope, source)?;
            let failed = launch.filter(|launch| launch.has_passed == Some(false));
            if let (Some(failed), Change::Put { record, .. }) = (failed, &mut change) {
                let id = failed.id.clone().into();
                record.attrs.insert(ErrorRecord::LAUNCH.to_owned(), id);
            }
            changes.push(change);
        }
        Ok(changes)
    }

    /// Records an outcome as [`Self::record_outcome`] does, for an external run loop: first imports an existing
    /// mirror, then updates the session's iteration and writes the mirror.
    pub fn record_iteration(
        &self,
        scope: &Scope,
        outcome: &IterationOutcome,
        source: &str,
    ) -> Result<(MirrorLoadOutcome, Vec<AppliedChange>), Fault> {
        self.engine.require_memory()?;
        let loaded = self.engine.mirror().load()?;
        let applied = self.record_outcome(scope, outcome, source)?;
        self.engine.sessions().reach_iteration(scope)?;
        self.engine.mirror().write()?;
        Ok((loaded, applied))
    }

    /// Returns the changes that close the errors of a command line that passed.
    fn passed_launch_changes(
        &self,
        scope: &Scope,
        id: &str,
        source: &str,
    ) -> Result<Vec<Change>, Fault> {
        let errors = self.engine.errors();
        let mut open = errors.newest_open(scope.task.as_deref(), limits::ERRORS_COMPARED_MAX)?;
        open.retain(|error| {
            error.scope.phase == scope.phase && error.attr_str(ErrorRecord::LAUNCH) == Some(id)
        });
        let changes = open
            .iter()
            .map(|error| errors.pass_change(error, None, self.engine.now(), source));
        Ok(changes.collect())
    }
}

/// Returns true if an error says more than that the iteration failed, which the episode has already.
fn names_cause(error: &str) -> bool {
    let is_status = error.trim().starts_with("the agent's status is ");
    !error.trim().is_empty() && !is_exit_status(error) && !is_status
}

/// Shortens a long error to its end, which usually has the cause, after an ellipsis.
pub(super) fn shorten_error(error: &str) -> Cow<'_, str> {
    let most = limits::OUTCOME_TEXT_CHARS_MAX;
    if text::chars(error) <= most {
        return Cow::Borrowed(error);
    }
    Cow::Owned(format!("…{}", text::clip_start(error, most - 1)))
}

fn task_update(scope: &Scope, outcome: &IterationOutcome) -> TaskChange {
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

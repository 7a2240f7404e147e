//! Outcome of an iteration: updates the task, opens or resolves errors.

use super::mirror_writer::MirrorLoadOutcome;
use super::new_record::check_scope;
use super::tasks::TaskChange;
use crate::engine::Tasks;
use heirloom_fs::project_fs;
use heirloom_model::kinds::TaskState;
use heirloom_model::{AgentStatus, Fault, IterationOutcome, Scope, limits, text};
use heirloom_store::{AppliedChange, Change};
use std::borrow::Cow;

/// Resolution of an error whose iteration succeeded without further details.
pub(super) const SUCCEEDED: &str = heirloom_model::record_meaning::RESOLUTION_SUCCEEDED;

impl Tasks<'_> {
    /// Records the outcome of an iteration in one transaction, or several if it resolves thousands of errors.
    ///
    /// Writes one episode, also if the same iteration is reported repeatedly. A failure opens an error, or counts one
    /// with the same signature in the same task and phase; a success resolves the open errors of that task and phase
    /// with `succeeded in iteration N`.
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
            changes.push(self.task_change(task, &task_update(scope, outcome), source)?);
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
        if outcome.success {
            changes.extend(self.resolving_changes(scope, source)?);
        } else if let Some(error) = outcome
            .error
            .as_deref()
            .filter(|error| !error.trim().is_empty() && !is_bare_exit(error))
        {
            let short = self
                .engine
                .redaction()
                .redact_text(&shorten_error(error.trim()));
            let scope = self.engine.redaction().redact_scope(scope.clone());
            changes.push(
                self.engine
                    .errors()
                    .error_change(short.as_text(), scope, source)?,
            );
        }
        Ok(changes)
    }

    /// Records an outcome as [`Self::record_outcome`] does, for an external run loop: first imports an existing
    /// mirror, then updates the session's iteration and writes the mirror.
    pub fn record_iteration(
        &self,
        task: &str,
        scope: &Scope,
        outcome: &IterationOutcome,
        source: &str,
    ) -> Result<(MirrorLoadOutcome, Vec<AppliedChange>), Fault> {
        self.engine.require_memory()?;
        let loaded = self.engine.mirror().load()?;
        let applied = self.record_outcome(scope, outcome, source)?;
        self.engine.sessions().reach_iteration(scope)?;
        self.engine.mirror().save(Some(task))?;
        Ok((loaded, applied))
    }

    fn resolving_changes(&self, scope: &Scope, source: &str) -> Result<Vec<Change>, Fault> {
        let mut changes = Vec::new();
        for error in self.engine.errors().open(None)? {
            if error.scope.task == scope.task && error.scope.phase == scope.phase {
                let resolution = match scope.iteration {
                    Some(n) => format!("{SUCCEEDED} in iteration {n}"),
                    None => SUCCEEDED.to_owned(),
                };
                changes.push(
                    self.engine
                        .errors()
                        .resolve_change(&error, &resolution, source),
                );
            }
        }
        Ok(changes)
    }
}

/// Returns true if an error consists only of an exit code, which the episode has already and which is not
/// informative.
fn is_bare_exit(error: &str) -> bool {
    let code = error.trim().strip_prefix("exit code ");
    code.is_some_and(|code| code.parse::<i32>().is_ok())
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

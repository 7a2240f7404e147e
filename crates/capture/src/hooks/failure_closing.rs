//! Closing of failures: by evidence that the command or the test that failed passed, with the changes in between.

use super::HookRequest;
use super::failure_warning::is_open;
use super::session_state::{HookSessionState, OpenFailure};
use crate::failures::{FOLDER, PassEvidence, PassedTests};
use crate::{Hooks, failures};
use heirloom_agents::failures::command_result::CommandShape;
use heirloom_agents::failures::{
    Subject, names_all_failing_tests, names_failing_tests, test_of_error,
};
use heirloom_engine::Engine;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Fault, Record, text};

/// Characters of a variable in a resolution.
const VARIABLE_CHARS_MAX: usize = 60;

/// A recorded failure that is gone.
struct GoneFailure {
    key: Option<String>,
    /// The test that failed.
    tests: PassedTests,
    /// Its resolution.
    how: Option<String>,
}

/// A run of a command, as far as it proves something.
pub(super) struct ProvingRun<'r> {
    /// The command line.
    pub(super) command: &'r str,
    /// Its output.
    pub(super) output: &'r str,
    /// Folder in which it ran.
    pub(super) folder: Option<&'r str>,
    /// Tree in which it ran.
    pub(super) tree: &'r str,
}

impl Hooks<'_> {
    /// Closes the failures of a command that passed, and the errors that name it or a test that passed.
    pub(super) fn record_passed_command(
        &self,
        request: &HookRequest<'_>,
        run: &ProvingRun<'_>,
        evidence: &PassEvidence,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        if run.tree != state.tree.label() || state.tree.is_put_aside() {
            // Without the edits, or in another tree, a run proves nothing about them.
            return Ok(());
        }
        if evidence.command_passed() {
            let subject = Subject::Command(run.command.to_owned());
            count_success(self, request, &subject, evidence, state)?;
            let trees = state.clone();
            let is_closed = |one: &Record| {
                evidence.closes(one) && trees.has_failed_in(one.key.as_deref(), run.tree)
            };
            let changes_of = |failure| changes_since(failure, run.command, run.folder);
            self.close_failures(request, &subject, &is_closed, &changes_of, state)?;
        }
        self.close_named_errors(request, evidence, state)
    }

    /// Closes the failures of tests that a failing run of the same command does not name any more.
    pub(super) fn close_passed_tests(
        &self,
        request: &HookRequest<'_>,
        run: &ProvingRun<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let is_cut = || {
            CommandShape::parse(run.command).shows_part_of_output()
                && !names_all_failing_tests(run.output)
        };
        if !names_failing_tests(run.output) || is_cut() {
            return Ok(());
        }
        let subject = Subject::Command(run.command.to_owned());
        let trees = state.clone();
        let is_closed = |one: &Record| {
            let test = test_of_error(&one.text).map(|test| test.trim_end_matches('…'));
            test.is_some_and(|test| !run.output.contains(test))
                && one.attr_str(FOLDER) == run.folder
                && trees.has_failed_in(one.key.as_deref(), run.tree)
        };
        let changes_of = |failure| changes_since(failure, run.command, run.folder);
        self.close_failures(request, &subject, &is_closed, &changes_of, state)
    }

    /// Closes the open failures of a subject that pass `is_closed`, each with the only change since it last occurred, and
    /// the errors that report the same tests.
    fn close_failures(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        is_closed: &dyn Fn(&Record) -> bool,
        changes_of: &dyn Fn(OpenFailure) -> Vec<String>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let gone = self.failures_of(subject)?.into_iter();
        let gone = gone.filter(|one| is_open(one) && is_closed(one));
        let gone: Vec<GoneFailure> = gone
            .map(|one| {
                let key = one.key.as_deref();
                let failure = key.and_then(|key| state.resolve_failure(key));
                // What happened since a failure of another session is unknown.
                let how = failure.and_then(|failure| failures::resolution(&changes_of(failure)));
                GoneFailure {
                    tests: PassedTests::of_gone_failures([one.text.as_str()]),
                    key: one.key,
                    how,
                }
            })
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        let applied = self.engine.apply_decided(|| {
            let open = self.failures_of(subject)?.into_iter().filter(is_open);
            let errors = self.engine.errors();
            let close = |now: Record| {
                let one = gone.iter().find(|one| one.key == now.key)?;
                Some(errors.pass_change(
                    &now,
                    one.how.as_deref(),
                    self.engine.now(),
                    request.host.as_str(),
                ))
            };
            Ok(open.filter_map(close).collect())
        })?;
        state.mark_delivered(applied.iter().map(|one| one.id));
        close_reports_of(self.engine, &gone, request.host.as_str())
    }

    /// Closes errors that signals and people reported, if they name the command or a test that passed.
    pub(super) fn close_named_errors(
        &self,
        request: &HookRequest<'_>,
        evidence: &PassEvidence,
        state: &HookSessionState,
    ) -> Result<(), Fault> {
        if evidence.is_empty() {
            return Ok(());
        }
        let session = request.scope().session;
        let tree = state.tree.label();
        let is_gone = |error: &Record| {
            evidence.closes(error) && state.has_failed_in(error.key.as_deref(), &tree)
        };
        let change_of = |error: &Record| match error.scope.session == session {
            true => state
                .changes()
                .resolution_since(ErrorRecord::last_failed_at(error)),
            // What happened between the sessions is unknown.
            false => None,
        };
        let tasks = failures::tasks_of_session();
        let source = request.host.as_str();
        failures::close_errors(self.engine, &tasks, &is_gone, &change_of, source).map(drop)
    }

    /// Closes the failures of an edit that succeeded, and remembers the edit as a change.
    pub(super) fn record_successful_edit(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        self.close_failures(request, subject, &|_| true, &|failure| failure.since, state)?;
        if let Subject::Edit(file) = subject {
            state.add_change(&failures::edit_change(file), self.engine.now());
        }
        Ok(())
    }
}

/// Closes the reported errors that are about the tests of failures that are gone, with the same resolution.
fn close_reports_of(engine: &Engine, gone: &[GoneFailure], source: &str) -> Result<(), Fault> {
    let failure_of = |error: &Record| gone.iter().find(|one| one.tests.cover(&error.text));
    let is_gone =
        |error: &Record| !failures::is_recorded_failure(error) && failure_of(error).is_some();
    let change_of = |error: &Record| failure_of(error).and_then(|one| one.how.clone());
    let tasks = failures::tasks_of_session();
    failures::close_errors(engine, &tasks, &is_gone, &change_of, source).map(drop)
}

/// Counts a further success of a command for its closed failures without a known fix.
fn count_success(
    hooks: &Hooks<'_>,
    request: &HookRequest<'_>,
    subject: &Subject,
    evidence: &PassEvidence,
    state: &mut HookSessionState,
) -> Result<(), Fault> {
    let (errors, source) = (hooks.engine.errors(), request.host.as_str());
    let counted = || -> Result<Vec<_>, Fault> {
        let known = hooks.failures_of(subject)?.into_iter();
        Ok(known
            .filter(|one| evidence.closes(one))
            .filter_map(|one| errors.pass_again_change(&one, hooks.engine.now(), source))
            .collect())
    };
    if counted()?.is_empty() {
        return Ok(());
    }
    let applied = hooks.engine.apply_decided(counted)?;
    state.mark_delivered(applied.iter().map(|one| one.id));
    Ok(())
}

/// Returns the changes between a failure and the success of the same command: the steps, and the variables and the
/// folder that differ.
fn changes_since(failure: OpenFailure, command: &str, folder: Option<&str>) -> Vec<String> {
    let mut changes = failure.since;
    let set = failures::assignments(command);
    let new = set
        .iter()
        .filter(|one| !failure.variables.iter().any(|old| old == *one));
    changes.extend(new.map(|one| {
        format!(
            "set `{}`",
            text::excerpt(one, VARIABLE_CHARS_MAX).replace('`', "'")
        )
    }));
    match (failure.folder.as_deref(), folder) {
        (Some(before), Some(now)) if before != now => changes.push(match now {
            "" => "ran it in the project's root".to_owned(),
            now => format!("ran it in `{now}`"),
        }),
        _ => {}
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_since_failure_include_variables_and_folder() {
        let failure = |variables: &[&str], folder: Option<&str>| OpenFailure {
            key: "k".to_owned(),
            since: vec!["edited `a`".to_owned()],
            variables: variables.iter().map(|one| (*one).to_owned()).collect(),
            folder: folder.map(str::to_owned),
            tree: String::new(),
        };
        for (failure, command, folder, changes) in [
            (failure(&[], None), "make", None, vec!["edited `a`"]),
            (
                failure(&["A=1"], None),
                "A=1 make",
                None,
                vec!["edited `a`"],
            ),
            (
                failure(&["A=1"], None),
                "A=2 make",
                None,
                vec!["edited `a`", "set `A=2`"],
            ),
            (
                failure(&[], Some("")),
                "cd web && make",
                Some("web"),
                vec!["edited `a`", "ran it in `web`"],
            ),
        ] {
            assert_eq!(changes_since(failure, command, folder), changes);
        }
    }
}

//! Closing of failures: by evidence that the command or the test that failed passed, with the changes in between.

use super::HookRequest;
use super::failure_warning::is_open;
use super::session_state::{HookSessionState, OpenFailure};
use crate::failures::PassEvidence;
use crate::{Hooks, failures};
use heirloom_agents::failures::Subject;
use heirloom_model::{Fault, Record, text};

/// Characters of a variable in a resolution.
const VARIABLE_CHARS_MAX: usize = 60;

impl Hooks<'_> {
    /// Closes the failures of a command that passed, and the errors that name it or a test that passed.
    pub(super) fn record_passed_command(
        &self,
        request: &HookRequest<'_>,
        command: &str,
        evidence: &PassEvidence,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        if evidence.command_passed() {
            let subject = Subject::Command(command.to_owned());
            let open: Vec<Record> = (self.failures_of(&subject)?.into_iter())
                .filter(is_open)
                .collect();
            let is_elsewhere = !open.is_empty() && !open.iter().any(|one| evidence.closes(one));
            // A command that passes in another folder is no evidence.
            if !is_elsewhere {
                let mut changes = None;
                if let Some(failure) = state.resolve_failure(&subject.prefix()) {
                    changes = Some(changes_since(failure, command, evidence));
                }
                self.close_failures(
                    request,
                    &subject,
                    &|one| evidence.closes(one),
                    changes,
                    state,
                )?;
            }
        }
        self.close_named_errors(request, evidence, state)
    }

    /// Closes the open failures of a subject that pass `is_closed`. Without `changes` nothing is known of what happened
    /// since the failure.
    fn close_failures(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        is_closed: &dyn Fn(&Record) -> bool,
        changes: Option<Vec<String>>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let is_gone = |one: &Record| is_open(one) && is_closed(one);
        if !self.failures_of(subject)?.iter().any(is_gone) {
            return Ok(());
        }
        let how = changes.and_then(|changes| failures::resolution(&changes));
        let applied = self.engine.apply_decided(|| {
            let open = self.failures_of(subject)?.into_iter().filter(is_gone);
            let errors = self.engine.errors();
            Ok(open
                .map(|now| errors.pass_change(&now, how.as_deref(), request.host.as_str()))
                .collect())
        })?;
        state.mark_delivered(applied.iter().map(|one| one.id));
        Ok(())
    }

    /// Closes errors that signals and people reported, if they name the command or a test that passed.
    pub(super) fn close_named_errors(
        &self,
        request: &HookRequest<'_>,
        evidence: &PassEvidence,
        state: &HookSessionState,
    ) -> Result<(), Fault> {
        let session = request.scope().session;
        let change_of = |error: &Record| match error.scope.session == session {
            true => state
                .changes()
                .resolution_since(failures::last_occurrence(error)),
            // What happened between the sessions is unknown.
            false => None,
        };
        let tasks = failures::tasks_of_session();
        let source = request.host.as_str();
        failures::close_errors(self.engine, &tasks, evidence, &change_of, source).map(drop)
    }

    /// Closes the failures of an edit that succeeded, and remembers the edit as a change.
    pub(super) fn record_successful_edit(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let since = state.resolve_failure(&subject.prefix());
        let changes = since.map(|failure| failure.since);
        self.close_failures(request, subject, &|_| true, changes, state)?;
        if let Subject::Edit(file) = subject {
            state.add_change(&format!("edited `{file}`"), self.engine.now());
        }
        Ok(())
    }
}

/// Returns the changes between a failure and the success of the same command: the steps, and the variables and the
/// folder that differ.
fn changes_since(failure: OpenFailure, command: &str, evidence: &PassEvidence) -> Vec<String> {
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
    match (failure.folder.as_deref(), evidence.folder()) {
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
        };
        let passed = |command: &str, folder: Option<&str>| {
            PassEvidence::of_command(command, folder.map(str::to_owned), "", false)
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
            let evidence = passed(command, folder);
            assert_eq!(changes_since(failure, command, &evidence), changes);
        }
    }
}

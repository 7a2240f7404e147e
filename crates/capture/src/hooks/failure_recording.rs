//! Recording of the outcomes of tools: failures, and what was changed.

use super::failure_closing::ProvingRun;
use super::failure_warning::{helpful_resolution, is_open, is_replaced};
use super::session_state::{HookSessionState, OpenFailure};
use super::{HookRequest, ToolUse};
use crate::failures::{FOLDER, PassEvidence};
use crate::{Hooks, failures};
use heirloom_agents::failures::{
    Failure, Subject, failure_text, is_deliberate_failure, is_guessed_path,
};
use heirloom_agents::hooks::HookAnswer;
use heirloom_lessons::LineSteps;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::{
    PASSED_LATER, has_passed_without_change, has_resolution_details,
};
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, RecordId, limits, mark};
use heirloom_store::{AsOf, Change, Filter};

/// A failed action and what was known of it before.
struct KnownFailure<'a> {
    subject: &'a Subject,
    failure: Failure,
    /// Folder of the command.
    folder: Option<String>,
    /// Resolution of an earlier failure, and its record.
    helped: Option<(RecordId, String)>,
}

/// A run that failed.
struct FailedRun<'r> {
    text: &'r str,
    folder: Option<String>,
    /// Tree in which it ran.
    tree: String,
}

impl Hooks<'_> {
    /// Records the outcome of a tool: a failure; or what it changed, and the failures that it proves to be gone.
    pub(super) fn record_tool_outcome(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        if is_lesson_call(&tool.name) {
            state.mark_lesson_left();
        }
        let subjects = super::tool_answer::failure_subjects(self.engine, request, tool);
        let command = tool.command.as_deref();
        let command = command.map(|text| self.engine.redaction().redact_input(text));
        let folder = command.as_deref().and_then(|command| {
            failures::folder_of_command(self.engine.root(), request.event.cwd.as_deref(), command)
        });
        let steps = command.as_deref().map(LineSteps::read).unwrap_or_default();
        let tree = steps.tree_of_run(&state.tree);
        if let Some(text) = &tool.failure {
            let run = FailedRun {
                text,
                folder: folder.clone(),
                tree,
            };
            let answer = self.record_tool_failure(request, tool, &subjects, &run, state)?;
            if let Some(command) = &command {
                // Some tests pass although the whole fails.
                let evidence = PassEvidence::of_command(command, folder, text, true);
                self.close_named_errors(request, &evidence, state)?;
            }
            state.tree.apply_line(&steps, true);
            return Ok(answer);
        }
        if let Some(command) = command.as_deref().filter(|_| tool.is_background) {
            state.add_change(&failures::background_change(command), self.engine.now());
        }
        if !tool.has_outcome {
            return Ok(HookAnswer::default());
        }
        if let Some(command) = &command {
            let output = tool.output(request.host);
            let evidence = PassEvidence::of_command(command, folder, &output, false);
            let run = ProvingRun {
                command,
                output: &output,
                folder: evidence.folder(),
                tree: &tree,
            };
            self.record_passed_command(request, &run, &evidence, state)?;
            for change in failures::command_changes(command) {
                state.add_change(&change, self.engine.now());
            }
            state.tree.apply_line(&steps, false);
        }
        for subject in subjects
            .iter()
            .filter(|one| matches!(one, Subject::Edit(_)))
        {
            self.record_successful_edit(request, subject, state)?;
        }
        self.record_changed_files(request, &subjects, state)?;
        Ok(HookAnswer::default())
    }

    /// Records a failure, and answers with the resolution of an earlier one.
    fn record_tool_failure(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        subjects: &[Subject],
        run: &FailedRun<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(subject) = subjects.first().filter(|_| !tool.is_interrupted) else {
            return Ok(HookAnswer::default());
        };
        if let Subject::Command(command) = subject
            && !failures::is_command_failure(command, run.text)
        {
            return Ok(HookAnswer::default());
        }
        let output = failures::shortened_output(self.engine, run.text);
        let failure = failures::describe_failure(subject, &output);
        if let Subject::Command(command) = subject {
            // Without the edits of the session, a failure is not one of its work.
            let is_elsewhere = run.tree != state.tree.label() || state.tree.is_put_aside();
            let is_guess = is_guessed_path(command, &failure.error);
            if is_elsewhere || is_guess || is_deliberate_failure(command) {
                return Ok(HookAnswer::default());
            }
            let run = ProvingRun {
                command,
                output: &output,
                folder: run.folder.as_deref(),
                tree: &run.tree,
            };
            self.close_passed_tests(request, &run, state)?;
        }
        let helped = self.earlier_resolution(request, &failure)?;
        let before = failures::current_failure(self.engine, &failure)?;
        let known = KnownFailure {
            subject,
            failure,
            folder: run.folder.clone(),
            helped,
        };
        let applied = self
            .engine
            .apply_decided(|| Ok(vec![self.failure_change(request, &known)?]))?;
        // The failure is in the agent's conversation already.
        let line = self.known_failure_line(request, &known, before.as_ref(), state)?;
        state.mark_delivered(applied.iter().map(|one| one.id));
        state.mark_warned(&subject.prefix());
        state.add_failure(OpenFailure {
            key: known.failure.key(),
            since: Vec::new(),
            variables: variables_of(subject),
            folder: known.folder,
            tree: run.tree.clone(),
        });
        let line = line.unwrap_or_default();
        Ok(self.build_answer(&line, limits::HOOK_TEXT_CHARS_MAX))
    }

    /// Returns what is known of a failure that happened again, unless the session was told it or found it itself.
    fn known_failure_line(
        &self,
        request: &HookRequest<'_>,
        known: &KnownFailure<'_>,
        before: Option<&Record>,
        state: &mut HookSessionState,
    ) -> Result<Option<String>, Fault> {
        let what = known.subject.display_text();
        let (id, line) = match (&known.helped, before) {
            (Some((id, helped)), _) => (
                *id,
                format!("- {what} failed before. What helped: {helped}"),
            ),
            (None, Some(before)) if has_passed_without_change(before) => (
                before.id,
                format!("- {what} failed so before, and {PASSED_LATER}."),
            ),
            (None, Some(_) | None) => return Ok(None),
        };
        let filter = Filter {
            as_of: AsOf::Ever,
            ..Filter::current(&[Kind::Error], self.engine.now())
        };
        let record = self.engine.records().find(&filter.ids(vec![id]))?;
        let is_own = record.iter().any(|record| self.is_own(record, request));
        if is_own || state.is_delivered(id) {
            return Ok(None);
        }
        state.mark_delivered([id]);
        Ok(Some(line))
    }

    /// Returns the resolution of an earlier occurrence of the failure, or of another one with the same text, with its
    /// record. Another failure of the same command has another fix.
    fn earlier_resolution(
        &self,
        request: &HookRequest<'_>,
        failure: &Failure,
    ) -> Result<Option<(RecordId, String)>, Fault> {
        let current = failures::current_failure(self.engine, failure)?;
        let current = current.filter(|record| !mark::is_muted(&record.attrs));
        if let Some(record) = current
            && let Some(helped) = helpful_resolution(&record)
            && !is_replaced(self.engine, Some(&helped))?
        {
            return Ok(Some((record.id, helped)));
        }
        let texts = [&failure_text(failure), failure.error.as_str()];
        let resolutions = self
            .engine
            .errors()
            .resolutions_before(&texts, &request.scope())?;
        let known = resolutions
            .into_iter()
            .find(|before| has_resolution_details(&before.resolution));
        let known = known.map(|before| (before.id, before.resolution));
        match is_replaced(self.engine, known.as_ref().map(|(_, fix)| fix.as_str()))? {
            true => Ok(None),
            false => Ok(known),
        }
    }

    /// Returns the change that opens or counts a failure. If a subject has too many open failures, the oldest is
    /// replaced.
    fn failure_change(
        &self,
        request: &HookRequest<'_>,
        known: &KnownFailure<'_>,
    ) -> Result<Change, Fault> {
        let failure = &known.failure;
        let (text, source) = (failure_text(failure), request.host.as_str());
        let mut record = self
            .engine
            .records()
            .draft(Kind::Error, &text, request.scope(), source);
        record.key = Some(failure.key());
        let mut typed = ErrorRecord::open();
        let helped = known.helped.as_ref().map(|(_, helped)| helped);
        for (name, value) in [
            (ErrorRecord::HELPED, helped),
            (FOLDER, known.folder.as_ref()),
        ] {
            if let Some(value) = value {
                typed.extra.insert(name.to_owned(), value.clone().into());
            }
        }
        let mut open = self.failures_of(known.subject)?;
        open.retain(is_open);
        let is_known = open.iter().any(|known| known.key == record.key)
            || failures::current_failure(self.engine, failure)?.is_some();
        let oldest = open
            .pop()
            .filter(|_| !is_known && open.len() + 1 >= limits::HOOK_FAILURES_OPEN_MAX);
        record.attrs = typed.to_attrs();
        let record = Box::new(record);
        Ok(match oldest {
            Some(oldest) => Change::Revise {
                id: oldest.id,
                record,
            },
            None => Change::Put {
                record,
                merge: MergeRule::Error,
            },
        })
    }
}

/// Returns the variables that a command sets for itself.
fn variables_of(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Command(command) => failures::assignments(command)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        Subject::Edit(_) => Vec::new(),
    }
}

/// Returns true for a call of a tool of Heirloom that stores a lesson.
fn is_lesson_call(tool: &str) -> bool {
    const WRITERS: [&str; 5] = [
        "remember",
        "update_memory",
        "log_error",
        "log_episode",
        "workspace",
    ];
    let mut parts = tool.split("__");
    parts.next() == Some("mcp")
        && parts
            .next()
            .is_some_and(|server| server.contains("heirloom"))
        && parts.next().is_some_and(|name| WRITERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_lesson_call_own_tools_only() {
        for (tool, is_lesson) in [
            ("mcp__heirloom__remember", true),
            ("mcp__plugin_heirloom__log_error", true),
            ("mcp__heirloom__recall", false),
            ("mcp__memory__remember", false),
            ("remember", false),
            ("Bash", false),
        ] {
            assert_eq!(is_lesson_call(tool), is_lesson, "{tool}");
        }
    }
}

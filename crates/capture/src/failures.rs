//! Failures of tools, as hooks and transcripts describe them, and the evidence that they are gone.

mod changes_between;
mod command_changes;
mod failed_runs;
mod pass_evidence;
mod passed_tests;
mod text_wrapping;

pub(crate) use changes_between::{RecentChanges, edit_change, resolution};
pub(crate) use command_changes::{assignments, background_change, command_changes};
pub(crate) use failed_runs::FailedRuns;
pub(crate) use pass_evidence::{FOLDER, PassEvidence, is_recorded_failure};
pub(crate) use passed_tests::PassedTests;
pub(crate) use text_wrapping::without_wrapping;

use heirloom_agents::failures::command_result::{CommandShape, ReportedStatus};
use heirloom_agents::failures::{Failure, Subject, split_commands, split_words, unquote};
use heirloom_agents::transcripts::{preview, without_injected_text};
use heirloom_engine::{Engine, TASK_MAIN};
use heirloom_fs::project_fs::normalise_project_path;
use heirloom_model::limits::{self, LESSON_ERRORS_COMPARED_MAX};
use heirloom_model::record_meaning::is_exit_status;
use heirloom_model::{Fault, Kind, Record};
use heirloom_store::{Change, Filter};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Bytes at each end of a long text that are redacted before it is shortened; more than any secret has.
const CLEANED_BYTES: usize = 32 << 10;

/// Describes a failure of a subject in the same way for hooks and transcripts.
pub(crate) fn describe_failure(subject: &Subject, text: &str) -> Failure {
    let text = without_injected_text(text);
    let text = without_wrapping(&text);
    let mut failure = match subject {
        Subject::Command(command) => Failure::new(command, text),
        Subject::Edit(file) => Failure::from_edit(file, text),
    };
    if is_exit_status(&failure.error) {
        failure.error.clear();
    }
    failure
}

/// Returns true if a command line that is reported as failed did fail, and not only in a lookup such as `grep`.
pub(crate) fn is_command_failure(command: &str, output: &str) -> bool {
    let shape = CommandShape::parse(command);
    let result = shape.read_result(ReportedStatus::Failure(None), output);
    let blamed = result.blamed.and_then(|part| shape.parts.get(part));
    blamed.is_some_and(|part| !part.is_lookup)
}

/// Returns the folder of a command relative to the project's root, from the agent's folder and the `cd` before the
/// command; `None` if it is unknown or outside of the project.
pub(crate) fn folder_of_command(root: &Path, cwd: Option<&str>, command: &str) -> Option<String> {
    let mut folder = PathBuf::from(cwd?);
    for one in split_commands(command) {
        let words = split_words(one.text);
        match words.as_slice() {
            ["cd", target] => folder.push(unquote(target)),
            ["export" | "source" | "." | "set", ..] => {}
            _ => break,
        }
    }
    if folder == root {
        return Some(String::new());
    }
    normalise_project_path(root, &folder.to_string_lossy()).ok()
}

/// Closes the open errors of these tasks of which `is_gone` knows that they are gone. `change_of` returns what was changed
/// since an error occurred.
pub(crate) fn close_errors(
    engine: &Engine,
    tasks: &[Option<&str>],
    is_gone: &dyn Fn(&Record) -> bool,
    change_of: &dyn Fn(&Record) -> Option<String>,
    source: &str,
) -> Result<Vec<Record>, Fault> {
    let find = || -> Result<Vec<Record>, Fault> {
        let mut closed = Vec::new();
        for task in tasks {
            let open = engine
                .errors()
                .newest_open(*task, LESSON_ERRORS_COMPARED_MAX)?;
            closed.extend(open.into_iter().filter(is_gone));
        }
        Ok(closed)
    };
    let found = find()?;
    if found.is_empty() {
        return Ok(found);
    }
    engine.apply_decided(|| {
        let changes = find()?.into_iter().map(|error| {
            let change = change_of(&error);
            engine
                .errors()
                .pass_change(&error, change.as_deref(), engine.now(), source)
        });
        Ok(changes.collect::<Vec<Change>>())
    })?;
    Ok(found)
}

/// Returns the tasks whose errors a session without a task of its own can close.
pub(crate) fn tasks_of_session() -> [Option<&'static str>; 2] {
    [None, Some(TASK_MAIN)]
}

/// Returns the current record with the key of this failure.
pub(crate) fn current_failure(engine: &Engine, failure: &Failure) -> Result<Option<Record>, Fault> {
    let filter = Filter::current(&[Kind::Error], engine.now())
        .key(&failure.key())
        .limit(1);
    Ok(engine.records().find(&filter)?.pop())
}

/// Returns the current records of the failures of a command or an edit, by the prefix of their keys.
pub(crate) fn failures_with_prefix(engine: &Engine, prefix: String) -> Result<Vec<Record>, Fault> {
    let filter = Filter {
        key_prefix: Some(prefix),
        ..Filter::current(&[Kind::Error], engine.now())
    };
    let filter = filter.limit(limits::HOOK_SESSION_ITEMS_MAX);
    engine.records().find(&filter)
}

/// Redacts and shortens a text. Redact before truncating: a cut secret no longer matches its pattern.
pub(crate) fn shortened(engine: &Engine, text: &str, chars_max: usize) -> String {
    let most = CLEANED_BYTES.max(chars_max);
    if text.len() <= 2 * most {
        return preview(&engine.redaction().redact_input(text), chars_max).into_owned();
    }
    let first = &text[..text.floor_char_boundary(most)];
    let last = &text[text.ceil_char_boundary(text.len() - most)..];
    let gap = text.len() - first.len() - last.len();
    let ends: [Cow<'_, str>; 2] = [
        engine.redaction().redact_input(first),
        engine.redaction().redact_input(last),
    ];
    let joined = format!("{}\n[… {gap} bytes are not kept …]\n{}", ends[0], ends[1]);
    preview(&joined, chars_max).into_owned()
}

/// Returns both ends of a long output, redacted, for the search for its error line.
pub(crate) fn shortened_output(engine: &Engine, text: &str) -> String {
    shortened(engine, text, CLEANED_BYTES)
}

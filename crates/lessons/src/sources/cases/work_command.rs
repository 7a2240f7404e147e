//! Effects of calls on the work: edited files, commits, checks, reverted files.

use super::issue_title::{created_issue, is_tracker};
use super::symbols::edited_symbols;
use crate::bounded_text::bounded;
use crate::code_tokens::is_file_name;
use crate::cues::Cues;
use crate::shell_line::{SimpleCommand, read_shell_line};
use crate::sources::commands::{Check, find_checks};
use crate::sources::commits::read_commit;
use crate::sources::working_tree::TreeStep;
use heirloom_agents::failures::is_probe;
use heirloom_agents::transcripts::FileEdit;
use serde::{Deserialize, Serialize};

/// Greatest number of bytes of a path.
const PATH_BYTES_MAX: usize = 140;
/// Greatest number of paths of one command.
const PATHS_MAX: usize = 4;
/// Greatest number of checks of one command line.
const CHECKS_MAX: usize = 4;
/// Greatest number of bytes of a subject.
const SUBJECT_BYTES_MAX: usize = 140;
/// Ends of files of prose, whose edits leave a check valid.
const PROSE_ENDS: [&str; 5] = [".md", ".mdx", ".txt", ".rst", ".adoc"];

/// Effect that a call has if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkEffect {
    /// It edits a file; the names are those of functions and types in the edit.
    Edit { path: String, symbols: Vec<String> },
    /// It makes a commit with this subject.
    Commit(String),
    /// It opens a pull request with this title.
    PullRequest(String),
    /// It files an issue with this title.
    Filing(String),
    /// It reverts the edits of these files; of all files if the list is empty.
    Revert(Vec<String>),
    /// It checks the work.
    Check(Check),
    /// Its output may have counts of tests.
    Tests,
    /// Its output may have titles of issues.
    IssueView,
}

impl WorkEffect {
    /// Returns the effect of an edit.
    pub(super) fn of_edit(edit: &FileEdit) -> Self {
        Self::Edit {
            path: bounded_end(&edit.path.replace('\\', "/")),
            symbols: edited_symbols(edit),
        }
    }

    fn of_path(path: &str) -> Self {
        Self::Edit {
            path: bounded_end(path),
            symbols: Vec::new(),
        }
    }
}

/// Returns the end of a path within the greatest length.
fn bounded_end(path: &str) -> String {
    let start = path.ceil_char_boundary(path.len().saturating_sub(PATH_BYTES_MAX));
    bounded(path.get(start..).unwrap_or_default(), PATH_BYTES_MAX)
}

/// Returns true for a file whose edits leave a check valid.
pub(super) fn is_prose(path: &str) -> bool {
    PROSE_ENDS.iter().any(|end| path.ends_with(end))
}

/// Returns the effects of a command line.
pub(super) fn effects_of(line: &str, cues: &Cues) -> Vec<WorkEffect> {
    let commands = read_shell_line(line);
    let mut effects = Vec::new();
    let mut has_tracker = false;
    for command in &commands {
        if let Some(message) = read_commit(command, &cues.commits) {
            let subject = bounded(&message.subject, SUBJECT_BYTES_MAX);
            effects.push(match message.is_pull_request {
                true => WorkEffect::PullRequest(subject),
                false => WorkEffect::Commit(subject),
            });
        } else if let Some(title) = created_issue(command, &cues.commands.tracker) {
            effects.push(WorkEffect::Filing(bounded(&title, SUBJECT_BYTES_MAX)));
            has_tracker = true;
        } else if is_tracker(command, &cues.commands.tracker) {
            has_tracker = true;
        } else if let Some(files) = reverted_files(command) {
            effects.push(WorkEffect::Revert(files));
        } else {
            effects.extend(changed_files(command));
        }
    }
    if has_tracker {
        effects.push(WorkEffect::IssueView);
        return effects;
    }
    let checks = find_checks(line, &commands, &cues.commands);
    if checks.is_empty() && !is_probe(line) {
        effects.push(WorkEffect::Tests);
    }
    let checks = checks.into_iter().take(CHECKS_MAX);
    effects.extend(checks.map(WorkEffect::Check));
    effects
}

/// Returns the files whose edits a command reverts, no file for all of them; `None` for another command.
fn reverted_files(command: &SimpleCommand) -> Option<Vec<String>> {
    match TreeStep::of_command(command)? {
        TreeStep::Undo(files) => Some(files),
        TreeStep::UndoCommits => Some(Vec::new()),
        TreeStep::Commit
        | TreeStep::PutAside
        | TreeStep::TakeBack
        | TreeStep::Discard
        | TreeStep::CheckOut(_)
        | TreeStep::NameBranch(_) => None,
    }
}

/// Returns the files that a command removes, moves or edits in place.
fn changed_files(command: &SimpleCommand) -> Vec<WorkEffect> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let (rest, is_tracked) = match words.as_slice() {
        ["git", "rm" | "mv", rest @ ..] => (rest, true),
        ["rm" | "mv", rest @ ..] => (rest, false),
        ["sed", option, rest @ ..] if option.starts_with("-i") => (rest, false),
        _ => return Vec::new(),
    };
    let is_path = |word: &&&str| {
        !word.starts_with(['-', '/', '~', '$'])
            && !word.ends_with('/')
            && (is_file_name(word) || is_tracked && word.contains('/'))
            && !word.contains([' ', '*', '\\', '|'])
            && !word.starts_with("s/")
    };
    let found = rest.iter().filter(is_path).take(PATHS_MAX);
    found.map(|path| WorkEffect::of_path(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(line: &str) -> Vec<WorkEffect> {
        effects_of(line, Cues::get())
    }

    #[test]
    fn effects_of_reads_commits_reverts_and_changed_files() {
        let revert = |files: &[&str]| {
            WorkEffect::Revert(files.iter().map(|file| (*file).to_owned()).collect())
        };
        for (line, effect) in [
            (
                "git commit -m 'Fix it'",
                WorkEffect::Commit("Fix it".to_owned()),
            ),
            ("git checkout -- src/a.rs", revert(&["src/a.rs"])),
            ("git restore .", revert(&[])),
            ("git reset --hard HEAD~1", revert(&[])),
            ("git rm -r plugins/old", WorkEffect::of_path("plugins/old")),
            ("sed -i 's/a/b/' src/a.rs", WorkEffect::of_path("src/a.rs")),
        ] {
            assert!(
                effects(line).contains(&effect),
                "{line}: {:?}",
                effects(line)
            );
        }
        for line in [
            "git checkout main",
            "git restore --staged a.rs",
            "git reset a.rs",
            "rm -rf /tmp/x.txt",
            "rm -rf out/20260626",
            "git log -- src/a.rs",
        ] {
            let found = effects(line);
            let is_change =
                |one: &WorkEffect| matches!(one, WorkEffect::Revert(_) | WorkEffect::Edit { .. });
            assert!(!found.iter().any(is_change), "{line}: {found:?}");
        }
    }
}

//! Evidence that an error is gone: the command or the test that failed passed later. Nothing else closes an error.

use super::passed_tests::PassedTests;
use heirloom_agents::failures::command_result::{CommandShape, CommandState, ReportedStatus};
use heirloom_agents::failures::{CommandWords, Subject, is_probe, normalize_command};
use heirloom_model::Record;

/// Attribute with the folder, relative to the project's root, in which a command failed.
pub(crate) const FOLDER: &str = "folder";

/// Attribute of a reported error with the prefix of the failed command whose output named its test.
pub(crate) const COMMAND: &str = "failed_command";

/// Words after a command that state its failure.
const FAILURE_VERBS: [&str; 26] = [
    "fails", "failed", "fail", "failing", "exits", "exited", "errors", "errored", "crashes",
    "crashed", "panics", "panicked", "breaks", "broke", "hangs", "hung", "aborts", "aborted",
    "returns", "returned", "dies", "died", "cannot", "can't", "doesn't", "errs",
];
/// Pairs of words with the same meaning.
const FAILURE_PAIRS: [(&str, &str); 7] = [
    ("does", "not"),
    ("is", "broken"),
    ("is", "failing"),
    ("still", "fails"),
    ("keeps", "failing"),
    ("times", "out"),
    ("timed", "out"),
];
/// Programs that show the output of earlier test runs.
const LOG_READERS: [&str; 10] = [
    "gh",
    "glab",
    "curl",
    "wget",
    "ssh",
    "docker",
    "kubectl",
    "journalctl",
    "git",
    "heirloom",
];
/// Longest beginning of an error that is compared with a command, bytes.
const COMMAND_BYTES_MAX: usize = 300;

/// Evidence of an ended command about errors.
#[derive(Debug, Clone, Default)]
pub(crate) struct PassEvidence {
    /// Normal form of the command, if it passed.
    command: Option<String>,
    /// Common prefix of the keys of its failures.
    prefix: String,
    /// Folder in which it ran.
    folder: Option<String>,
    /// Tests that passed, even if others failed.
    tests: PassedTests,
}

impl PassEvidence {
    /// Reads what a command shows, from its exit status and its output.
    pub(crate) fn of_command(
        command: &str,
        folder: Option<String>,
        output: &str,
        has_failed: bool,
    ) -> Self {
        let shape = CommandShape::parse(command);
        let has_succeeded = || {
            let result = shape.read_result(ReportedStatus::Success, output);
            result.state == CommandState::Succeeded
        };
        let passed = !has_failed && !shape.is_lookup() && has_succeeded();
        let program = CommandWords::parse(command).program;
        let shows_log = is_probe(command) || LOG_READERS.contains(&program);
        Self {
            command: passed.then(|| normalize_command(command)),
            prefix: Subject::Command(command.to_owned()).prefix(),
            folder,
            tests: match shows_log {
                true => PassedTests::default(),
                false => PassedTests::read(output),
            },
        }
    }

    /// Returns true if nothing passed.
    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_none() && self.tests.is_empty()
    }

    /// Returns true if the command itself passed.
    pub(crate) fn command_passed(&self) -> bool {
        self.command.is_some()
    }

    /// Returns the folder in which the command ran.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Returns true if an error is about the command or the tests that passed.
    pub(crate) fn closes(&self, error: &Record) -> bool {
        if self.is_same_command(error) {
            return true;
        }
        // The key of a recorded failure tells its command, and its folder is known.
        let names_command = |command: &String| {
            !is_recorded_failure(error) && names_failing_command(&error.text, command)
        };
        self.tests.cover(&error.text) || self.command.as_ref().is_some_and(names_command)
    }

    /// Returns true for a failure of the command that passed, in the same folder: a recorded one, or a reported one
    /// whose test the command named.
    fn is_same_command(&self, error: &Record) -> bool {
        let has_key = |key: &String| key.starts_with(&self.prefix);
        let is_of_command = error.key.as_ref().is_some_and(has_key)
            || error.attr_str(COMMAND) == Some(self.prefix.as_str());
        self.command.is_some()
            && is_of_command
            && is_same_folder(error.attr_str(FOLDER), self.folder.as_deref())
    }
}

/// Returns true for a failure that was recorded from its tool, and not reported by an agent or a user.
pub(crate) fn is_recorded_failure(error: &Record) -> bool {
    let is_keyed = |key: &str| key.starts_with("command:") || key.starts_with("edit:");
    error.key.as_deref().is_some_and(is_keyed)
}

/// Returns true unless two folders are known and neither contains the other.
fn is_same_folder(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return true;
    };
    let contains = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        outer.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    contains(one, other) || contains(other, one)
}

/// Returns true if an error states that this command, in its normal form, fails: `` `make lint` fails: … ``.
fn names_failing_command(error: &str, command: &str) -> bool {
    let mut from = 0;
    // In backticks, at any place.
    while let Some((start, end)) = code_span(error, from) {
        let span = error.get(start..end).unwrap_or_default();
        let after = error.get(end + 1..).unwrap_or_default();
        if begins_with_failure(after) && normalize_command(span) == command {
            return true;
        }
        from = end + 1;
    }
    // At the beginning, up to the verb.
    let mut end = error.len().min(COMMAND_BYTES_MAX);
    while !error.is_char_boundary(end) {
        end -= 1;
    }
    let head = error.get(..end).unwrap_or_default();
    let ends = head.match_indices([' ', ':']).map(|(at, _)| at);
    ends.filter(|at| begins_with_failure(head.get(*at..).unwrap_or_default()))
        .take(1)
        .any(|at| {
            let before = head.get(..at).unwrap_or_default();
            !before.contains('`') && normalize_command(before) == command
        })
}

/// Returns the range of the next text in backticks.
fn code_span(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find('`')? + 1;
    let end = start + text.get(start..)?.find('`')?;
    Some((start, end))
}

/// Returns true for a text that goes on with a failure: `: …` or `fails …`.
fn begins_with_failure(rest: &str) -> bool {
    if rest.starts_with(": ") {
        return true;
    }
    let mut words = rest
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', ':', ';']));
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    FAILURE_VERBS.contains(&first) || FAILURE_PAIRS.contains(&(first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_command_that_fails() {
        for (error, command, is_named) in [
            ("`make lint` fails: unused import", "make lint", true),
            ("running `make lint` exits with 2", "make lint", true),
            ("`cd web && npm test 2>&1 | tail` failed", "npm test", true),
            ("make lint fails: unused import", "make lint", true),
            ("make: *** No rule to make target 'x'", "make", true),
            ("npm test does not start", "npm test", true),
            ("cargo test -p x fails", "cargo test", false),
            (
                "`cargo test` fails because `make gen` was not run",
                "make gen",
                false,
            ),
            ("`make lint` is slow", "make lint", false),
            ("npm run build:prod fails", "npm run build", false),
            ("lint fails", "make lint", false),
            ("`", "make", false),
            ("", "", false),
        ] {
            assert_eq!(names_failing_command(error, command), is_named, "{error}");
        }
    }

    #[test]
    fn folders_are_the_same_unless_apart() {
        for (one, other, is_same) in [
            (None, Some("a"), true),
            (Some("a"), Some("a"), true),
            (Some(""), Some("a"), true),
            (Some("a/b"), Some("a"), true),
            (Some("a"), Some("b"), false),
            (Some("a"), Some("ab"), false),
        ] {
            assert_eq!(is_same_folder(one, other), is_same, "{one:?} {other:?}");
        }
    }
}

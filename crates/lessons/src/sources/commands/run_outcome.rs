//! Outcome of one command among others in the same call.

use crate::shell_line::{Operator, SimpleCommand};
use heirloom_agents::failures::read_test_counts;
use heirloom_agents::transcripts::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Number of bytes at the end of an output in which errors are searched.
const OUTPUT_BYTES_MAX: usize = 8 << 10;
/// Beginning of the result of a call that was moved to the background.
const BACKGROUND: &str = "Command running in background with ID: ";
/// Beginnings of lines that report a failure, in lower case.
const ERROR_STARTS: [&str; 12] = [
    "error:",
    "error[",
    "error -",
    "error ",
    "** (",
    "fatal:",
    "failed",
    "fail ",
    "failure:",
    "traceback (",
    "✗",
    "✘",
];
/// Parts of lines that report a failure, in lower case.
const ERROR_PARTS: [&str; 7] = [
    "command not found",
    "no such file or directory",
    "could not compile",
    "build failed",
    "npm err!",
    "elifecycle",
    "compilation error",
];

/// Position of a command in its call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandPosition {
    /// True if the exit status of the call includes the command's.
    decides: bool,
    /// True if no other command can have failed instead.
    is_only: bool,
    /// True if it is the call's only command except `cd`, filters and `echo`.
    is_alone: bool,
}

impl CommandPosition {
    /// Returns the position of the command at an index.
    pub(super) fn of(commands: &[SimpleCommand], index: usize) -> Self {
        let after = commands.get(index..).unwrap_or_default();
        let joined = after
            .iter()
            .take_while(|command| command.next_operator == Some(Operator::And))
            .count();
        let last = after.get(joined);
        let decides = last.is_some_and(|last| {
            last.next_operator.is_none()
                || (last.next_operator == Some(Operator::Sequence) && joined + 1 == after.len())
        });
        let is_helper = |command: &SimpleCommand| {
            matches!(
                command.word(0),
                "cd" | "echo"
                    | "tail"
                    | "head"
                    | "grep"
                    | "tee"
                    | "cat"
                    | "set"
                    | "export"
                    | "source"
            )
        };
        let others = commands
            .iter()
            .enumerate()
            .filter(|(other, command)| *other != index && !is_helper(command));
        let is_alone = others.count() == 0;
        Self {
            decides,
            is_only: decides && is_alone,
            is_alone,
        }
    }

    /// Returns true if the call runs nothing else of importance.
    pub(super) fn is_alone(self) -> bool {
        self.is_alone
    }
}

/// Returns true if the command succeeded, as far as the call's outcome and output show it.
pub(super) fn run_succeeded(
    position: &CommandPosition,
    outcome: ToolOutcome,
    output: &str,
) -> Option<bool> {
    match outcome {
        ToolOutcome::Rejected => None,
        ToolOutcome::Succeeded if position.decides => Some(true),
        ToolOutcome::Failed if position.is_only => Some(false),
        ToolOutcome::Succeeded | ToolOutcome::Failed => {
            if !position.is_alone {
                // The output of another command could be the reason.
                return (outcome == ToolOutcome::Succeeded && !has_failure_line(output))
                    .then_some(true);
            }
            Some(match read_test_counts(output) {
                Some(counts) => counts.failed == 0,
                None => !has_failure_line(output),
            })
        }
    }
}

/// Returns true if a line near the end of an output reports a failure.
fn has_failure_line(output: &str) -> bool {
    let start = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES_MAX));
    output.get(start..).unwrap_or_default().lines().any(|line| {
        let line = line.trim().to_lowercase();
        ERROR_STARTS.iter().any(|start| line.starts_with(start))
            || ERROR_PARTS.iter().any(|part| line.contains(part))
    })
}

/// Returns the id of the background task to which a call was moved.
pub(super) fn background_id(output: &str) -> Option<&str> {
    let rest = output.trim_start().strip_prefix(BACKGROUND)?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    rest.get(..end.unwrap_or(rest.len()))
        .filter(|id| !id.is_empty() && id.len() <= 64)
}

/// Returns true for the result of a call that reads a background task which has ended.
pub(super) fn is_finished_background(output: &str) -> bool {
    let head = output
        .get(..output.floor_char_boundary(600))
        .unwrap_or_default();
    head.contains("<status>completed</status>")
        || head.contains("<status>failed</status>")
        || head.contains("<exit_code>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_line::read_shell_line;

    fn outcome(line: &str, index: usize, outcome: ToolOutcome, output: &str) -> Option<bool> {
        run_succeeded(
            &CommandPosition::of(&read_shell_line(line), index),
            outcome,
            output,
        )
    }

    #[test]
    fn run_succeeded_reads_exit_status_and_output() {
        use ToolOutcome::{Failed, Rejected, Succeeded};
        for (line, index, result, output, expected) in [
            ("make test", 0, Succeeded, "", Some(true)),
            ("make test", 0, Failed, "", Some(false)),
            ("make test", 0, Rejected, "", None),
            ("cd a && make test", 1, Failed, "", Some(false)),
            (
                "make test 2>&1 | tail -5",
                0,
                Succeeded,
                "5 tests, 0 failures",
                Some(true),
            ),
            (
                "make test 2>&1 | tail -5",
                0,
                Succeeded,
                "5 tests, 2 failures",
                Some(false),
            ),
            (
                "make lint | tail -5",
                0,
                Succeeded,
                "error: bad",
                Some(false),
            ),
            ("make lint; echo done", 0, Succeeded, "done", Some(true)),
            ("make build && make test", 0, Succeeded, "", Some(true)),
            (
                "make build && make test",
                1,
                Failed,
                "2 tests, 1 failures",
                None,
            ),
        ] {
            assert_eq!(
                outcome(line, index, result, output),
                expected,
                "{line} {output}"
            );
        }
    }

    #[test]
    fn background_tasks_are_recognised() {
        let started =
            "Command running in background with ID: b0be39e. Output is being written to: x";
        assert_eq!(background_id(started), Some("b0be39e"));
        assert_eq!(background_id("ok"), None);
        assert!(is_finished_background(
            "<retrieval_status>success</retrieval_status>\n<status>completed</status>"
        ));
        assert!(!is_finished_background("<status>running</status>"));
    }
}

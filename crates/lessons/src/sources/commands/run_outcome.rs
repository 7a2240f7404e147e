//! Outcome of one command among others in the same call.

use crate::command_run::reported_status;
use crate::shell_line::{SimpleCommand, read_shell_line};
use heirloom_agents::failures::command_result::{CommandShape, CommandState, ShapePart};
use heirloom_agents::transcripts::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Beginning of the result of a call that was moved to the background.
const BACKGROUND: &str = "Command running in background with ID: ";
/// A command of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandPosition {
    shape: CommandShape,
    /// Number of its part, if it is known.
    part: Option<usize>,
}

impl CommandPosition {
    /// Returns the position of a command in the line with this structure.
    pub(super) fn of(shape: &CommandShape, command: &SimpleCommand) -> Self {
        // The end of a long command is cut.
        let is_same = |part: &ShapePart| {
            let known = read_shell_line(&part.text).into_iter().next();
            let known = known.unwrap_or_default().words;
            let whole = known.len().saturating_sub(1).max(1);
            known == command.words
                || part.is_cut()
                    && known
                        .iter()
                        .take(whole)
                        .eq(command.words.iter().take(whole))
        };
        Self {
            part: shape.parts.iter().position(is_same),
            shape: shape.clone(),
        }
    }

    /// Returns true if the call runs nothing else of importance.
    pub(super) fn is_alone(&self) -> bool {
        self.part.is_some_and(|part| self.shape.is_only_work(part))
    }

    /// Returns true if the command succeeded, as far as the call's outcome and output show it.
    pub(super) fn has_succeeded(&self, outcome: ToolOutcome, output: &str) -> Option<bool> {
        let result = self.shape.read_result(reported_status(outcome), output);
        match result.parts.get(self.part?)? {
            CommandState::Succeeded => Some(true),
            CommandState::Failed => Some(false),
            CommandState::Unknown => None,
        }
    }
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

    fn outcome(line: &str, index: usize, outcome: ToolOutcome, output: &str) -> Option<bool> {
        let commands = read_shell_line(line);
        CommandPosition::of(&CommandShape::parse(line), &commands[index])
            .has_succeeded(outcome, output)
    }

    #[test]
    fn has_succeeded_reads_exit_status_and_output() {
        use ToolOutcome::{Failed, Rejected, Succeeded};
        for (line, index, result, output, expected) in [
            ("make test", 0, Succeeded, "", Some(true)),
            (
                "A=src python3 -m unittest discover -p 'test_db*' -v",
                0,
                Succeeded,
                "Ran 4 tests in 0.01s\n\nOK",
                Some(true),
            ),
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
            ("make lint; echo done", 0, Succeeded, "done", None),
            ("make build && make test", 0, Succeeded, "", Some(true)),
            (
                "make build && make test",
                1,
                Failed,
                "2 tests, 1 failures",
                Some(false),
            ),
            (
                "make build && make test",
                0,
                Failed,
                "2 tests, 1 failures",
                Some(true),
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

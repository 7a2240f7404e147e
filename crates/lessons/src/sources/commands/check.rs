//! Checks of a command line: tests, builds, type checks and linters, and whether they passed.

use super::classification::classify_command;
use super::run_outcome::CommandPosition;
use crate::bounded_text::bounded_excerpt;
use crate::cues::CommandCues;
use crate::shell_line::SimpleCommand;
use heirloom_agents::failures::command_result::CommandShape;
use heirloom_agents::transcripts::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Purposes of commands whose success shows that work is right. Formatters change files instead.
const PURPOSES: [&str; 4] = [TEST, "build", "typecheck", "lint"];
const TEST: &str = "test";
/// Purposes of commands that read code without running it.
const STATIC_PURPOSES: [&str; 3] = ["typecheck", "lint", "format"];
/// Greatest number of bytes of a command.
const COMMAND_BYTES_MAX: usize = 100;

/// A command that shows whether work is right.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::sources) struct Check {
    /// The command with its arguments.
    pub(in crate::sources) command: String,
    /// True if it runs tests.
    pub(in crate::sources) is_test: bool,
    position: CommandPosition,
}

impl Check {
    /// Returns true if the check passed, as far as the result of its call shows it.
    pub(in crate::sources) fn has_passed(
        &self,
        outcome: ToolOutcome,
        output: &str,
    ) -> Option<bool> {
        self.position.has_succeeded(outcome, output)
    }
}

/// Returns true for a linter, formatter or type checker.
pub(crate) fn is_static_check(command: &SimpleCommand, cues: &CommandCues) -> bool {
    let classified = classify_command(command, cues);
    let purpose = classified.and_then(|found| cues.purpose.get(found.purpose));
    purpose.is_some_and(|purpose| STATIC_PURPOSES.contains(&purpose.name.as_str()))
}

/// Returns the checks of a command line.
pub(in crate::sources) fn find_checks(
    line: &str,
    commands: &[SimpleCommand],
    cues: &CommandCues,
) -> Vec<Check> {
    let shape = CommandShape::parse(line);
    let check = |command: &SimpleCommand| {
        let purpose = cues.purpose.get(classify_command(command, cues)?.purpose)?;
        PURPOSES.contains(&purpose.name.as_str()).then(|| Check {
            command: bounded_excerpt(
                &command.words.join(" ").replace('`', "'"),
                COMMAND_BYTES_MAX,
            ),
            is_test: purpose.name == TEST,
            position: CommandPosition::of(&shape, command),
        })
    };
    commands.iter().filter_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::shell_line::read_shell_line;

    #[test]
    fn find_checks_names_the_whole_command_and_reads_its_result() {
        use ToolOutcome::{Failed, Succeeded};
        for (line, command, outcome, output, passed) in [
            (
                "cd a && cargo test -p shop cart",
                "cargo test -p shop cart",
                Succeeded,
                "",
                Some(true),
            ),
            (
                "npx tsc --noEmit",
                "npx tsc --noEmit",
                Failed,
                "error TS1",
                Some(false),
            ),
            (
                "pytest tests | tail -3",
                "pytest tests",
                Succeeded,
                "1 failed, 2 passed in 1s",
                Some(false),
            ),
            (
                "pytest tests || true",
                "pytest tests",
                Succeeded,
                "1 failed, 2 passed in 1s",
                Some(false),
            ),
        ] {
            let checks = find_checks(line, &read_shell_line(line), &Cues::get().commands);
            assert_eq!(checks.len(), 1, "{line}");
            assert_eq!(checks[0].command, command);
            assert_eq!(checks[0].has_passed(outcome, output), passed, "{line}");
        }
        for line in [
            "cargo fmt",
            "prettier --write a.ts",
            "git status",
            "ls tests",
        ] {
            assert!(
                find_checks(line, &read_shell_line(line), &Cues::get().commands).is_empty(),
                "{line}"
            );
        }
    }
}

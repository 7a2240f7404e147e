//! Failures that teach nothing: those that a command causes on purpose, and those of a guessed path.

use super::shell_line::{SimpleCommand, read_shell_line};
use super::{base_name, unwrap_shell};

/// Programs that run code of the command line.
const INTERPRETERS: [&str; 8] = [
    "python", "python3", "node", "ruby", "perl", "php", "deno", "bun",
];
/// Options before such code.
const CODE_OPTIONS: [&str; 5] = ["-c", "-e", "-r", "--eval", "-p"];
/// Statements that end a program with an error.
const RAISING: [&str; 9] = [
    "raise ",
    "sys.exit(",
    "os._exit(",
    "os.abort(",
    "assert False",
    "assert 0",
    "throw ",
    "process.exit(",
    "die(",
];

/// Returns true for a command that fails on purpose.
///
/// Examples: `python3 -c "raise ValueError('test')"`, `sh -c 'exit 3'`, `make; exit 1`, `false`.
pub fn is_deliberate_failure(command: &str) -> bool {
    let commands = read_shell_line(unwrap_shell(command.trim()));
    let exits = |one: &SimpleCommand| match one.word(0) {
        "false" => true,
        "exit" | "return" => one.word(1).parse::<u8>().is_ok_and(|status| status != 0),
        _ => false,
    };
    // `make || exit 1` passes the failure on.
    let is_alternative = command.contains("||");
    commands.last().is_some_and(exits) && !is_alternative || commands.iter().any(raises)
}

/// Returns true for code on the command line that raises an error.
fn raises(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter();
    if !words.any(|word| INTERPRETERS.contains(&base_name(word))) {
        return false;
    }
    let has_statement = |code: &str| RAISING.iter().any(|statement| code.contains(statement));
    let in_option = command.option_values(&CODE_OPTIONS).any(has_statement);
    in_option || command.here_document.as_deref().is_some_and(has_statement)
}

/// Returns true if the command names a file or folder that is not there: a guess, which no later session repeats.
///
/// Examples: `can't open file '/p/export.py': [Errno 2] No such file or directory`, `file or directory not found: tests/x`.
pub fn is_guessed_path(command: &str, error: &str) -> bool {
    let lower = error.to_lowercase();
    let is_absent = lower.contains("no such file or directory");
    let by_shell = ["bash:", "sh:", "zsh:", "/bin/bash:", "/bin/sh:"];
    let names_script = || {
        let scripts = command.split_whitespace().map(base_name);
        let mut scripts = scripts.filter(|word| word.ends_with("js") && word.contains('.'));
        scripts.any(|script| error.contains(&format!("/{script}'")))
    };
    is_absent && lower.contains("can't open file")
        || lower.contains("file or directory not found: ")
        || lower.contains("pathspec '") && lower.contains("did not match any file")
        || is_absent && by_shell.iter().any(|shell| lower.starts_with(shell))
        || lower.contains("cannot find module '/") && names_script()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_deliberate_failure_of_commands() {
        for (command, expected) in [
            ("python3 -c \"raise RuntimeError('report this')\"", true),
            ("uv run python -c 'import sys; sys.exit(3)'", true),
            ("python3 - <<'E'\nraise ValueError(1)\nE", true),
            ("node -e \"throw new Error('x')\"", true),
            ("make; exit 1", true),
            ("make > log 2>&1 || { tail log; exit 1; }", false),
            ("sh -c 'exit 3'", true),
            ("false", true),
            ("make || exit 0", false),
            ("python3 -c 'import shop'", false),
            ("grep 'raise ' a.py", false),
            ("pytest -q", false),
        ] {
            assert_eq!(is_deliberate_failure(command), expected, "{command}");
        }
    }

    #[test]
    fn is_guessed_path_of_errors() {
        for (command, error, expected) in [
            (
                "python3 tools/send.py",
                "python3: can't open file '/p/tools/send.py': [Errno 2] No such file or directory",
                true,
            ),
            (
                "pytest tests/x.py",
                "ERROR: file or directory not found: tests/x.py",
                true,
            ),
            (
                "git add ci/build.yaml",
                "fatal: pathspec 'ci/build.yaml' did not match any files",
                true,
            ),
            (
                "./run.sh",
                "bash: ./run.sh: No such file or directory",
                true,
            ),
            (
                "node web/send.js",
                "Error: Cannot find module '/p/web/send.js'",
                true,
            ),
            (
                "node web/send.js",
                "Error: Cannot find module 'express'",
                false,
            ),
            (
                "make",
                "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'",
                false,
            ),
        ] {
            assert_eq!(is_guessed_path(command, error), expected, "{error}");
        }
    }
}

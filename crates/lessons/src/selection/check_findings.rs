//! Findings of static checks in work in progress: history of one change, and no knowledge.

use crate::cues::CommandCues;
use crate::shell_line::read_shell_line;
use crate::sources::is_static_check;
use crate::{Candidate, LessonContent};

/// Beginnings and ends of resolutions that name a command: the way to run the check, and no edit of the code.
const COMMAND_RESOLUTIONS: [&str; 2] = ["ran `", "set the variable"];
/// Words by which a check counts what it found.
const COUNTED: [&str; 6] = [
    "error", "errors", "warning", "warnings", "problem", "problems",
];

/// Returns true for a failure of a linter, formatter or type checker that reported findings, and that edits or the
/// checker's own fixes removed. `ruff check . failed: E501 Line too long` is one; `ruff check . failed: No such file or
/// directory (os error 2)` is not. Of nine such records that readers judged one was worth keeping.
pub(super) fn is_check_finding(candidate: &Candidate, cues: &CommandCues) -> bool {
    let LessonContent::Error {
        text,
        resolution: Some(resolution),
        ..
    } = &candidate.content
    else {
        return false;
    };
    let Some((command, error)) = text
        .strip_prefix('`')
        .and_then(|rest| rest.split_once("` failed: "))
    else {
        return false;
    };
    let is_by_command = COMMAND_RESOLUTIONS
        .iter()
        .any(|start| resolution.starts_with(start));
    !is_by_command
        && is_finding(error)
        && read_shell_line(command)
            .iter()
            .any(|simple| is_static_check(simple, cues))
}

/// Returns true if an error of a check is what it found: a rule's code, a place, a count, or only that it failed.
fn is_finding(error: &str) -> bool {
    let mut words = error.split_whitespace().peekable();
    let mut previous = "";
    while let Some(word) = words.next() {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_count = previous.bytes().all(|b| b.is_ascii_digit()) && !previous.is_empty();
        if is_rule_code(plain)
            || is_place(word)
            || word.starts_with("error[")
            || word.starts_with("warning[")
            || is_count && COUNTED.contains(&plain.to_lowercase().as_str())
            || plain == "failed" && words.peek().is_none()
        {
            return true;
        }
        previous = plain;
    }
    false
}

/// Returns true for the code of a rule, such as `E501`, `TS2345`, `SC2086` and `no-unused-vars`.
fn is_rule_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.len() - letters;
    let is_number = word.bytes().skip(letters).all(|b| b.is_ascii_digit());
    (1..=6).contains(&letters) && (2..=5).contains(&digits) && is_number
}

/// Returns true for a place in a file, such as `src/a.py:3:7`.
fn is_place(word: &str) -> bool {
    let mut parts = word.trim_end_matches(':').rsplit(':');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    is_number(parts.next()) && parts.any(|part| part.contains('.') || is_number(Some(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::{SourceKind, Speaker};

    fn is_dropped(text: &str, resolution: &str) -> bool {
        let candidate = Candidate {
            source: SourceKind::Failure,
            speaker: Speaker::Program,
            content: LessonContent::Error {
                key: "k".to_owned(),
                text: text.to_owned(),
                resolution: Some(resolution.to_owned()),
            },
            worth: 0.8,
            evidence: Vec::new(),
            at: None,
            agent: None,
        };
        is_check_finding(&candidate, &Cues::get().commands)
    }

    #[test]
    fn findings_of_checks_are_recognised() {
        let edit = "src/a.py: changed `x` to `y`.";
        for text in [
            "`uv run ruff check .` failed: E501 Line too long (120 > 100)",
            "`npx eslint src` failed: 4 problems (4 errors, 0 warnings)",
            "`npx tsc --noEmit` failed: src/a.ts(3,1): error TS2322: Type 'string' is not assignable",
            "`uv run ty check` failed: error[invalid-await]: `T` is not awaitable",
            "`mypy .` failed: Found 3 errors in 2 files",
            "`cargo clippy` failed: error: this loop could be written as a `for` loop src/a.rs:3:7",
            "`uv run ty check` failed: ty failed",
        ] {
            assert!(is_dropped(text, edit), "{text}");
        }
        for (text, resolution) in [
            (
                "`uv run ruff check .` failed: No such file or directory (os error 2)",
                "ran `uv sync --extra dev`.",
            ),
            (
                "`uv run ruff check .` failed: requirements are unsatisfiable",
                "pyproject.toml: changed `\"ty>=0.1\"` to `\"ty>=0.0.1\"`.",
            ),
            (
                "`npx tsc` failed: error TS5083: Cannot read file 'base.json'",
                "ran `npm run build:config`.",
            ),
            (
                "`cargo test` failed: error[E0382]: borrow of moved value",
                edit,
            ),
            ("`pytest` failed: 3 failed, 4 passed", edit),
        ] {
            assert!(!is_dropped(text, resolution), "{text}");
        }
    }
}

//! Status of commands: if the success of a command line is evidence that its commands passed.

use heirloom_agents::failures::{Operator, split_commands, split_words, unwrap_shell};
use heirloom_model::text;

/// Programs that only prepare the commands after them, or print.
const SETUP: [&str; 16] = [
    "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "sleep", "wait", "echo",
    "printf", "true", ":", "mkdir", "clear",
];
/// Words that mark a line of output as a failure.
const FAILURE_WORDS: [&str; 20] = [
    "error",
    "fail",
    "panicked",
    "exception",
    "traceback",
    "fatal",
    "cannot",
    "not found",
    "no such",
    "denied",
    "undefined",
    "unresolved",
    "aborted",
    "segmentation",
    "timed out",
    "✗",
    "✘",
    "✖",
    "✕",
    "not ok ",
];
/// Characters of a line that are searched.
const LINE_CHARS_MAX: usize = 300;

/// Returns true if a command line that ended with exit code 0 and printed `output` passed.
///
/// Behind a pipe, before `;` and in `… || true` the exit code is that of another command: such a line passed only if its
/// output says nothing of a failure.
pub(crate) fn has_passed(line: &str, output: &str) -> bool {
    !is_status_masked(line) || (!output.trim().is_empty() && !shows_failure(output))
}

/// Returns true if the exit code of a line does not depend on all of its commands.
fn is_status_masked(line: &str) -> bool {
    let commands = split_commands(unwrap_shell(line.trim()));
    let (mut fails_on_error, mut fails_in_pipe) = (false, false);
    let mut has_work = false;
    for command in &commands {
        let words = split_words(command.text);
        let is_masking = match command.operator {
            Operator::Start | Operator::And => false,
            Operator::Pipe => !fails_in_pipe,
            Operator::Sequence => !fails_on_error,
            Operator::Or => true,
        };
        if has_work && is_masking {
            return true;
        }
        if words.first() == Some(&"set") {
            let flags = words.get(1..).unwrap_or_default();
            let has_flag = |flag: char| {
                let is_short = |word: &&&str| word.starts_with('-') && word.contains(flag);
                flags.iter().any(|word| is_short(&word))
            };
            fails_on_error |= has_flag('e');
            fails_in_pipe |= flags.contains(&"pipefail");
        }
        has_work |= words
            .first()
            .is_some_and(|program| !SETUP.contains(program));
    }
    false
}

/// Returns true if a line of an output reports a failure. Counts of zero and passed tests report no failure.
fn shows_failure(output: &str) -> bool {
    let plain = text::strip_ansi(output);
    plain.lines().any(is_failure_line)
}

fn is_failure_line(line: &str) -> bool {
    let line = text::clip(line.trim(), LINE_CHARS_MAX).to_lowercase();
    let is_passed = line.ends_with("... ok")
        || line.starts_with("ok ")
        || line.starts_with("--- pass")
        || line.contains(" passed [")
        || ["✓", "✔", "√", "pass "]
            .iter()
            .any(|mark| line.starts_with(mark));
    !is_passed
        && FAILURE_WORDS.iter().any(|word| {
            line.match_indices(word)
                .any(|(at, _)| !is_negated(&line, at, word.len()))
        })
}

/// Returns true for `0 failed`, `no errors`, `failures: 0` and the like.
fn is_negated(line: &str, at: usize, length: usize) -> bool {
    let before = line.get(..at).unwrap_or_default().trim_end();
    let last = before
        .rsplit([' ', '(', ',', ':', '='])
        .next()
        .unwrap_or_default();
    if matches!(last, "0" | "no" | "without" | "zero") {
        return true;
    }
    let after = line.get(at + length..).unwrap_or_default();
    let rest = after.trim_start_matches(|c: char| c.is_alphabetic());
    let rest = rest.trim_start_matches([' ', ':', '=']);
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    count > 0
        && rest
            .get(..count)
            .is_some_and(|count| count.bytes().all(|byte| byte == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_last_command_is_no_evidence_of_others() {
        for (line, is_masked) in [
            ("cargo test", false),
            ("cd a && cargo test", false),
            ("cd a; cargo test", false),
            ("cd a\ncargo test", false),
            ("FOO=1 timeout 60 cargo test 2>&1", false),
            ("make && make test", false),
            ("echo x | python y.py", false),
            ("cargo test | tail -5", true),
            ("set -o pipefail; cargo test | tail -5", false),
            ("set -euo pipefail\nmake | tee log\nmake test", false),
            ("cargo test || true", true),
            ("cargo test; echo $?", true),
            ("make; make test", true),
            ("set -e; make; make test", false),
            ("cargo test & sleep 1", true),
            ("bash -lc 'cargo test | tail -5'", true),
            ("", false),
        ] {
            assert_eq!(is_status_masked(line), is_masked, "{line}");
        }
    }

    #[test]
    fn masked_line_passes_only_without_failure_in_its_output() {
        let line = "cargo test 2>&1 | tail -5";
        for (output, passed) in [
            ("test result: ok. 5 passed; 0 failed; 0 ignored", true),
            ("12 passed, 0 errors", true),
            ("Tests: 3 passed, failures: 0", true),
            ("test error_is_reported ... ok\nno errors", true),
            ("✓ fails on empty input\n1 passing", true),
            ("test result: FAILED. 4 passed; 1 failed", false),
            ("10 failed", false),
            ("error: could not compile", false),
            ("", false),
            ("  \n", false),
        ] {
            assert_eq!(has_passed(line, output), passed, "{output}");
        }
        assert!(has_passed("cargo test", ""));
        assert!(has_passed(
            "cargo test",
            "warning: error handling is missing"
        ));
    }

    proptest::proptest! {
        #[test]
        fn has_passed_handles_any_text(line in "(a|;|\\|| && |set -e|'|\\PC){0,20}", output in "(error|0|: |no |\n|\\PC){0,30}") {
            has_passed(&line, &output);
        }
    }
}

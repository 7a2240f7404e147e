//! Counts of tests in the output of test programs.

use heirloom_model::text;

/// Greatest number of bytes at the end of an output that are read.
const OUTPUT_BYTES_MAX: usize = 12 << 10;
/// Greatest number of characters of a line with counts.
const LINE_CHARS_MAX: usize = 160;
/// Greatest number of characters of a line that is shown in the words of the test program.
const SHOWN_CHARS_MAX: usize = 64;

/// Counts of a test run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that passed or were run.
    pub passed: u64,
    /// Tests that failed, and errors.
    pub failed: u64,
    /// The counts in the words of the test program.
    pub line: String,
}

/// Meaning of a number in a line with counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountKind {
    Passed,
    Failed,
    Total,
}

/// Returns the counts of the last test run in an output, or `None` if it has none.
pub fn read_test_counts(output: &str) -> Option<TestCounts> {
    let start = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES_MAX));
    let tail = text::strip_ansi(output.get(start..).unwrap_or_default());
    let mut best: Option<TestCounts> = None;
    for line in tail.lines().map(str::trim) {
        if line.len() > LINE_CHARS_MAX * 4 || !line.bytes().any(|b| b.is_ascii_digit()) {
            continue;
        }
        let Some(counts) = line_counts(line) else {
            continue;
        };
        // `cargo test` prints one line for each binary.
        let is_part = line.starts_with("test result:");
        match &mut best {
            Some(sum) if is_part && sum.line.starts_with("test result:") => {
                sum.passed += counts.passed;
                sum.failed += counts.failed;
            }
            _ => best = Some(counts),
        }
    }
    let mut best = best?;
    if best.line.starts_with("test result:") || best.line.chars().count() > SHOWN_CHARS_MAX {
        best.line = format!("{} passed, {} failed", best.passed, best.failed);
    }
    Some(best)
}

/// Returns the counts of a line that reports a whole test run.
fn line_counts(line: &str) -> Option<TestCounts> {
    let lower = line.to_lowercase();
    // The number of files is printed before the number of tests.
    if ["test files", "test suites", "suites:"]
        .iter()
        .any(|start| lower.starts_with(start))
    {
        return None;
    }
    let mut numbers: Vec<(CountKind, u64)> = Vec::new();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '|' | '=' | '!'))
        .filter(|word| !word.is_empty())
        .take(40)
        .collect();
    let kind = |index: Option<usize>| {
        let word = words.get(index?)?;
        count_kind(word.trim_end_matches([':', '.']))
    };
    for (index, word) in words.iter().enumerate() {
        let Ok(number) = word.trim_start_matches('#').parse::<u64>() else {
            continue;
        };
        let is_label = |index: usize| words.get(index).is_some_and(|word| word.ends_with(':'));
        let before = index.checked_sub(1);
        let next = Some(index + 1).filter(|next| !is_label(*next));
        let found = match kind(next) {
            Some(found) => Some(found),
            None => {
                let is_named = before
                    .is_some_and(|at| is_label(at) || words.get(at.wrapping_sub(1)) == Some(&"#"));
                kind(before.filter(|_| is_named))
            }
        };
        numbers.extend(found.map(|found| (found, number)));
    }
    let sum = |kind: CountKind| {
        numbers
            .iter()
            .filter(|(found, _)| *found == kind)
            .map(|(_, number)| number)
            .sum::<u64>()
    };
    let has = |kind: CountKind| numbers.iter().any(|(found, _)| *found == kind);
    let (passed, failed, total) = (
        sum(CountKind::Passed),
        sum(CountKind::Failed),
        sum(CountKind::Total),
    );
    let is_report = (has(CountKind::Passed) && (has(CountKind::Failed) || is_summary(&lower)))
        || (has(CountKind::Total) && has(CountKind::Failed))
        || (has(CountKind::Total) && lower.starts_with("ok ("));
    if !is_report || passed + total + failed == 0 {
        return None;
    }
    Some(TestCounts {
        passed: match passed {
            0 => total.saturating_sub(failed),
            passed => passed,
        },
        failed,
        line: text::excerpt(
            line.trim_matches(|c: char| matches!(c, '=' | ' ' | '─' | '-')),
            LINE_CHARS_MAX,
        ),
    })
}

/// Returns true for a line that reports passed tests and names no failed ones.
fn is_summary(lower: &str) -> bool {
    let body = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    body.starts_with("tests")
        || body.contains(" in ")
        || body.contains("passing")
        || body.starts_with("ok")
        || body.contains("test")
}

fn count_kind(word: &str) -> Option<CountKind> {
    match word {
        "passed" | "passing" | "pass" | "succeeded" | "successes" => Some(CountKind::Passed),
        "failed" | "failures" | "failure" | "failing" | "fail" | "errors" | "error" => {
            Some(CountKind::Failed)
        }
        "tests" | "test" | "doctests" | "doctest" | "examples" | "example" | "runs" | "specs"
        | "run" | "scenarios" | "properties" | "property" => Some(CountKind::Total),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_test_counts_reads_reports_of_many_programs() {
        for (output, passed, failed) in [
            (
                "Finished in 1.5 seconds\n14 doctests, 65 tests, 0 failures",
                79,
                0,
            ),
            ("5 tests, 4 failures", 1, 4),
            (
                "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored",
                15,
                2,
            ),
            (
                "     Summary [   0.9s] 41 tests run: 40 passed, 1 failed, 2 skipped",
                40,
                1,
            ),
            ("===== 3 failed, 20 passed in 1.23s =====", 20, 3),
            ("==== 20 passed, 1 warning in 1.23s ====", 20, 0),
            (
                "Test Suites: 2 passed, 2 total\nTests:       1 failed, 16 passed, 17 total\nTime: 1 s",
                16,
                1,
            ),
            (
                " Test Files  2 passed (2)\n      Tests  16 passed (16)\n   Start at  10:00",
                16,
                0,
            ),
            ("  12 passing (40ms)\n  1 failing", 12, 0),
            ("Tests run: 12, Failures: 1, Errors: 0, Skipped: 0", 11, 1),
            ("OK (8 tests, 20 assertions)", 8, 0),
            (
                "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5",
                5,
                0,
            ),
            ("12 examples, 0 failures", 12, 0),
            (
                "10 runs, 20 assertions, 1 failures, 0 errors, 0 skips",
                9,
                1,
            ),
            ("ok | 5 passed | 0 failed (10ms)", 5, 0),
        ] {
            let found = read_test_counts(output).map(|counts| (counts.passed, counts.failed));
            assert_eq!(found, Some((passed, failed)), "{output}");
        }
    }

    #[test]
    fn read_test_counts_finds_none_in_other_output() {
        for output in [
            "",
            "Compiling 3 files",
            "error: 3 errors",
            "port 1234",
            "2 files changed",
            "line 5: test",
        ] {
            assert_eq!(read_test_counts(output), None, "{output}");
        }
    }

    #[test]
    fn read_test_counts_accepts_long_and_odd_output() {
        read_test_counts(&"1 passed ".repeat(200_000));
        read_test_counts(&"é1".repeat(100_000));
        assert!(
            read_test_counts(&format!("{}\n5 passed, 0 failed", "x\n".repeat(1 << 20))).is_some()
        );
    }
}

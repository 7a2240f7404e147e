//! Test counts, read from what the runners print.

use std::fmt;

/// Numbers of tests by result. Its `Display` is the line that CI reads.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    /// Adds the counts of another runner.
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Counts tests as skipped that the runner counted as passed, because they ended early without a failure.
    pub(super) fn move_to_skipped(&mut self, count: u64) {
        self.passed = self.passed.saturating_sub(count);
        self.skipped += count;
    }

    /// Counts a runner that failed without a failed test (a compile error, for example) as one
    /// failure, so that the line never looks successful.
    pub(super) fn or_one_failure_unless(mut self, succeeded: bool) -> Self {
        if !succeeded && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Reads nextest's last `Summary [   1.2s] 12 tests run: 10 passed (1 slow), 2 failed, 1 skipped`.
pub(super) fn of_nextest(output: &str) -> Counts {
    let output = without_escapes(output);
    let parts = output
        .lines()
        .filter(|line| line.trim_start().starts_with("Summary ["))
        .filter_map(|line| line.split_once(" run: "))
        .next_back();
    parts.map_or_else(Counts::default, |(_, parts)| read(parts, ','))
}

/// Adds up cargo's `test result: ok. 3 passed; 0 failed; 1 ignored; …`, one per test binary.
pub(super) fn of_cargo_test(output: &str) -> Counts {
    let mut total = Counts::default();
    for line in without_escapes(output).lines() {
        if let Some((_, parts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        {
            total.add(read(parts, ';'));
        }
    }
    total
}

/// Parses `3 passed, 1 failed`; ignores notes in parentheses such as `(1 slow, 2 leaky)`.
fn read(parts: &str, separator: char) -> Counts {
    let mut depth = 0_u32;
    let bare: String = parts
        .chars()
        .filter(|c| {
            depth += u32::from(*c == '(');
            let outside = depth == 0;
            depth -= u32::from(*c == ')' && depth > 0);
            outside
        })
        .collect();
    let mut counts = Counts::default();
    for part in bare.split(separator) {
        let Some((number, how)) = part.trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match how.trim() {
            "passed" => counts.passed += number,
            "failed" | "timed out" | "exec failed" => counts.failed += number,
            "skipped" | "ignored" => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

/// The text without colour: everything from ESC to the letter that ends the sequence.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
        Counts {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn nextest_summary_is_parsed() {
        let rows = [
            (
                "     Summary [   0.006s] 3 tests run: 3 passed, 1 skipped\n",
                counts(3, 0, 1),
            ),
            (
                "\u{1b}[31m     Summary\u{1b}[0m [  62.1s] 9/12 tests run: 5 passed (1 slow, 2 leaky), \
                 2 failed, 1 timed out, 1 exec failed, 4 skipped\n",
                counts(5, 4, 4),
            ),
            (
                "     Summary [   0.006s] 1 test run: 1 passed, 0 skipped",
                counts(1, 0, 0),
            ),
            ("error: could not compile", counts(0, 0, 0)),
        ];
        for (output, expected) in rows {
            assert_eq!(of_nextest(output), expected, "{output}");
        }
    }

    #[test]
    fn cargo_results_of_several_binaries_are_added() {
        let output = "running 4 tests\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s\n\
            test result: \u{1b}[31mFAILED\u{1b}[0m. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(of_cargo_test(output), counts(4, 2, 1));
    }

    #[test]
    fn test_that_ended_early_is_skipped_and_not_passed() {
        let mut counted = counts(12, 1, 3);
        counted.move_to_skipped(2);
        assert_eq!(counted, counts(10, 1, 5));
    }

    #[test]
    fn failed_runner_without_failed_test_counts_as_one_failure() {
        assert_eq!(
            counts(0, 0, 0).or_one_failure_unless(false),
            counts(0, 1, 0)
        );
        assert_eq!(
            counts(3, 2, 0).or_one_failure_unless(false),
            counts(3, 2, 0)
        );
        assert_eq!(counts(3, 0, 0).or_one_failure_unless(true), counts(3, 0, 0));
    }

    #[test]
    fn display_prints_line_for_ci() {
        assert_eq!(
            counts(12, 0, 3).to_string(),
            "12 passed, 0 failed, 3 skipped"
        );
    }
}

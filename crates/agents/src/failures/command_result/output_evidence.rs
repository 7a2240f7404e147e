//! Evidence in an output about the parts of its command line: errors that name a program, reports of test programs,
//! compilers and linters, printed exit codes.

mod error_line;
mod report_line;

use super::ShapePart;
use crate::failures::cause::reports_failure;
use crate::failures::test_counts::read_test_counts;
use error_line::ErrorLine;
use heirloom_model::text;
use report_line::{has_success_report, is_failure_report, reporters_of, words_in};

/// Lines at each end of an output that are read.
const LINES_MAX: usize = 4_000;
/// Characters of a line.
const LINE_CHARS_MAX: usize = 400;
/// First lines in which an exit code is searched.
const CODE_LINES: usize = 2;

/// Evidence in an output.
pub(super) struct OutputEvidence {
    lines: Vec<String>,
    /// Exit code in the first lines.
    pub(super) exit_code: Option<i64>,
}

impl OutputEvidence {
    /// Reads an output; `has_code` if the agent program may put the exit code before it.
    pub(super) fn read(output: &str, has_code: bool) -> Self {
        let plain = text::strip_ansi(output);
        let all: Vec<&str> = plain.lines().collect();
        let code_at = |(at, line): (usize, &&str)| Some((at, exit_code(line)?));
        let code = match has_code {
            true => all.iter().take(CODE_LINES).enumerate().find_map(code_at),
            false => None,
        };
        let middle = LINES_MAX..all.len().saturating_sub(LINES_MAX).max(LINES_MAX);
        let kept = all.iter().enumerate().filter(|(at, line)| {
            let is_code = code.is_some_and(|(code_at, _)| code_at == *at);
            !middle.contains(at) && !line.trim().is_empty() && !is_code
        });
        Self {
            lines: kept
                .map(|(_, line)| text::clip(line, LINE_CHARS_MAX).to_owned())
                .collect(),
            exit_code: code.map(|(_, code)| code),
        }
    }

    /// Returns true if nothing was printed.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns true if a line consists of a text.
    pub(super) fn has_line_with(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.trim() == text)
    }

    /// Returns the exit code that a command such as `echo "exit: $?"` printed, between two texts.
    pub(super) fn printed_code(&self, (before, after): &(String, String)) -> Option<i64> {
        self.lines.iter().rev().find_map(|line| {
            let rest = line.trim().strip_prefix(before.as_str())?;
            rest.strip_suffix(after.as_str())?.trim().parse().ok()
        })
    }

    /// Returns true if the shell could not parse the line.
    pub(super) fn has_syntax_error(&self) -> bool {
        const PHRASES: [&str; 5] = [
            "syntax error",
            "unexpected eof while",
            "unmatched ",
            "parse error near",
            "unexpected end of",
        ];
        self.lines.iter().any(|line| {
            let lower = line.to_lowercase();
            PHRASES.iter().any(|phrase| lower.contains(phrase))
        })
    }

    /// Returns true if an error line names a part, such as `cat: x: No such file or directory`.
    pub(super) fn names_failure_of(&self, part: &ShapePart) -> bool {
        self.lines
            .iter()
            .any(|line| ErrorLine::parse(line).is_some_and(|error| error.is_of(part)))
    }

    /// Returns the open parts that error lines name, one for each line.
    pub(super) fn named_failures(&self, parts: &[ShapePart], open: &[usize]) -> Vec<usize> {
        let named = self.lines.iter().enumerate().filter_map(|(at, line)| {
            let error = ErrorLine::parse(line)?;
            let is_named =
                |number: &usize| parts.get(*number).is_some_and(|part| error.is_of(part));
            let found: Vec<usize> = open.iter().copied().filter(is_named).collect();
            self.choose(parts, &found, line, at)
        });
        named.collect()
    }

    /// Returns the candidate that the last line about one of them names.
    pub(super) fn last_reporter(&self, parts: &[ShapePart], candidates: &[usize]) -> Option<usize> {
        let about = |is_about: &dyn Fn(&str, &ShapePart) -> bool| {
            self.lines.iter().enumerate().rev().find_map(|(at, line)| {
                let is_reporting =
                    |number: &usize| parts.get(*number).is_some_and(|part| is_about(line, part));
                let found: Vec<usize> = candidates.iter().copied().filter(is_reporting).collect();
                self.choose(parts, &found, line, at)
            })
        };
        about(&|line, part| ErrorLine::parse(line).is_some_and(|error| error.is_named(part)))
            .or_else(|| about(&reporters_of))
            .or_else(|| {
                about(&|line, part| {
                    report_line::may_report_failure(line) && words_in(line, part) > 0
                })
            })
    }

    /// Chooses between parts that the line at a position may be about: the one with the most words in it, then the first
    /// one unless something succeeded before.
    fn choose(&self, parts: &[ShapePart], found: &[usize], line: &str, at: usize) -> Option<usize> {
        if found.len() < 2 {
            return found.first().copied();
        }
        let count = |number: &usize| parts.get(*number).map_or(0, |part| words_in(line, part));
        let most = found.iter().map(count).max().unwrap_or_default();
        let best: Vec<usize> = found
            .iter()
            .copied()
            .filter(|number| count(number) == most)
            .collect();
        let before = self.lines.get(..at).unwrap_or_default();
        match before.iter().any(|line| report_line::is_success(line)) {
            true => best.last().copied(),
            false => best.first().copied(),
        }
    }

    /// Returns a part that the output reports as passed or failed, among those whose status is open. `has_content` is
    /// true if the output may be the content of a file.
    pub(super) fn report(
        &self,
        parts: &[ShapePart],
        open: &[usize],
        has_content: bool,
    ) -> Option<(usize, bool)> {
        let output = self.lines.join("\n");
        let failing = self.lines.iter().rev().find_map(|line| {
            let is_failure = is_failure_report(line);
            open.iter().rev().copied().find(|number| {
                is_failure
                    && parts
                        .get(*number)
                        .is_some_and(|part| reporters_of(line, part))
            })
        });
        if let Some(number) = failing {
            return Some((number, false));
        }
        let fails = reports_failure(&output);
        if fails {
            // The report may be that of another part, or of a file that was shown.
            let is_others = parts.iter().enumerate().any(|(number, part)| {
                !open.contains(&number)
                    && self
                        .lines
                        .iter()
                        .any(|line| is_failure_report(line) && reporters_of(line, part))
            });
            let last = open.last().filter(|_| !has_content && !is_others);
            return last.map(|number| (*number, false));
        }
        let passing = |number: &usize| {
            let part = parts.get(*number)?;
            // `head` may have cut the failures.
            let is_cut = part
                .lines_shown
                .is_some_and(|shown| self.lines.len() >= shown);
            let passed = read_test_counts(&output).is_some_and(|counts| counts.failed == 0);
            let is_report = (passed && report_line::runs_tests(part)
                || has_success_report(&self.lines, part))
                || passed && open.len() == 1;
            (is_report && !is_cut && !has_content).then_some((*number, true))
        };
        open.iter().find_map(passing)
    }
}

/// Returns the exit code in a line such as `Exit code 2`.
fn exit_code(line: &str) -> Option<i64> {
    const MARKS: [&str; 4] = [
        "exit code ",
        "exit code: ",
        "error: exit code ",
        "process exited with code ",
    ];
    let lower = line.trim().to_lowercase();
    let code = MARKS.iter().find_map(|mark| lower.strip_prefix(mark))?;
    code.trim().parse().ok()
}

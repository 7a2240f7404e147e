//! Cause of a failure: the first line of the output that names the fault, and the failing test.

use super::output_line::{LineKind, line_kind, message_of};
use super::test_counts::read_test_counts;
use super::test_name::failing_test;
use aho_corasick::AhoCorasick;
use heirloom_model::{limits, text};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Lines of an output that are read.
const LINES_MAX: usize = 20_000;

/// Lines after a fault in which its details are searched.
const DETAIL_LINES: usize = 12;

/// Characters of a detail.
const DETAIL_CHARS_MAX: usize = 80;

/// Characters of a test's name.
const TEST_CHARS_MAX: usize = 100;

/// Failing tests that are compared.
const TESTS_MAX: usize = 50;

/// Cause of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cause {
    /// The message that names the fault.
    pub(super) message: String,
    /// Name of the failing test, if only one test fails for this cause.
    pub(super) test: Option<String>,
}

/// Line with its number, kind and message.
#[derive(Debug, Clone, Copy)]
struct FoundCause<'o> {
    at: usize,
    message: &'o str,
}

/// First lines of each kind.
#[derive(Debug, Default)]
struct Candidates<'o> {
    /// True if the last line has no mark.
    ends_plain: bool,
    fault: Option<FoundCause<'o>>,
    assertion: Option<FoundCause<'o>>,
    finding: Option<FoundCause<'o>>,
    warning: Option<FoundCause<'o>>,
    weak: Option<FoundCause<'o>>,
    summary: Option<FoundCause<'o>>,
    last: Option<FoundCause<'o>>,
    /// First fault or assertion of each failing test.
    tests: Vec<(&'o str, Option<FoundCause<'o>>)>,
    /// True if warnings count as errors.
    denies_warnings: bool,
}

/// Finds the cause of a failure in the output of the command.
pub(super) fn find_cause(output: &str) -> Cause {
    find_causes(output, 1)
        .into_iter()
        .next()
        .unwrap_or_default()
}

/// Finds the cause of a failure, followed by those of failing tests with other messages, at most `most`.
pub(super) fn find_causes(output: &str, most: usize) -> Vec<Cause> {
    let plain = text::strip_ansi(output);
    let lines: Vec<&str> = plain.lines().take(LINES_MAX).collect();
    let candidates = read_lines(&lines);
    let mut causes: Vec<Cause> = Vec::new();
    let in_tests = candidates.tests.iter().filter_map(|(_, found)| *found);
    let first = candidates.best().into_iter();
    for found in first.chain(in_tests) {
        if causes.len() >= most {
            break;
        }
        let found = root_exception(&lines, found);
        let message = with_details(&lines, found);
        let cause = Cause {
            message: text::excerpt(&message, limits::HOOK_ERROR_CHARS_MAX),
            test: candidates.single_test(found.message),
        };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

/// Words of which each line that reports a failure has one.
const REPORT_WORDS: [&str; 6] = ["error", "fail", "fatal", "panic", "traceback", "uncaught"];

/// Returns true if an output reports that its command failed, although the exit status may be that of a filter.
pub fn reports_failure(output: &str) -> bool {
    static AUTOMATON: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true);
        builder.build(REPORT_WORDS).ok()
    };
    let words = AUTOMATON.get_or_init(build).as_ref();
    // Most outputs are long and report nothing.
    let may_report = |text: &str| words.is_none_or(|words| words.is_match(text));
    if !may_report(output) {
        return false;
    }
    let plain = text::strip_ansi(output);
    let lines = plain.lines().take(LINES_MAX);
    lines.filter(|line| may_report(line)).any(|line| {
        let message = message_of(line);
        match line_kind(message) {
            LineKind::Summary => is_failing_count(message),
            LineKind::Fault => !line.starts_with([' ', '\t']) && is_reported_by_program(message),
            LineKind::Assertion
            | LineKind::Finding
            | LineKind::Warning
            | LineKind::Weak
            | LineKind::Status
            | LineKind::Plain => line.starts_with("Traceback (most recent call last)"),
        }
    })
}

/// Returns true if an output names failing tests, so that the command got as far as running tests.
pub fn names_failing_tests(output: &str) -> bool {
    let plain = text::strip_ansi(output);
    let mut lines = plain.lines().take(LINES_MAX);
    lines.any(|line| failing_test(line).is_some())
}

/// Returns true if an output names as many failing tests as its summary counts, so that no other test failed.
pub fn names_all_failing_tests(output: &str) -> bool {
    let plain = text::strip_ansi(output);
    let lines = plain.lines().take(LINES_MAX);
    let names: HashSet<String> = lines
        .filter_map(|line| failing_test(line).map(|test| test.name.to_string()))
        .collect();
    read_test_counts(output)
        .is_some_and(|counts| counts.failed > 0 && names.len() as u64 >= counts.failed)
}

/// Returns true if a summary line counts failures, or says that the build failed.
fn is_failing_count(message: &str) -> bool {
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_count = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte != b'0')
    };
    let is_failure = |word: &str| word.starts_with("fail") || word.starts_with("error");
    let counted = words.windows(2).any(|pair| match pair {
        [count, word] => {
            is_count(count) && is_failure(word)
                || is_failure(count) && is_count(word) && lower.contains(':')
        }
        _ => false,
    });
    let has_count = words
        .iter()
        .any(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    counted || !has_count && lower.contains("fail") || lower.contains("could not compile")
}

/// Returns true for a message that programs print when they give up, not for text that mentions an error.
fn is_reported_by_program(message: &str) -> bool {
    [
        "error", "Error", "ERROR", "fatal", "FATAL", "panic", "Uncaught", "(",
    ]
    .iter()
    .any(|start| message.starts_with(start))
}

fn read_lines<'o>(lines: &[&'o str]) -> Candidates<'o> {
    let mut all = Candidates::default();
    // pytest prints source code next to its messages, which begin with `E`.
    let marks_errors = lines.iter().any(|line| line.starts_with("E   "));
    let mut is_in_traceback = false;
    let mut expects_cause = false;
    for (at, line) in lines.iter().enumerate() {
        let is_indented = line.starts_with([' ', '\t', '>']);
        if line.starts_with("Traceback (most recent call last)") {
            is_in_traceback = true;
            continue;
        }
        if let Some(test) = failing_test(line) {
            let cause = test.message.map(|message| FoundCause { at, message });
            if all.tests.len() < TESTS_MAX {
                all.tests.push((test.name, cause));
            }
            continue;
        }
        // Indented lines of a traceback are source code.
        if is_in_traceback && is_indented {
            continue;
        }
        is_in_traceback = false;
        let message = message_of(line);
        if !message.contains(char::is_alphabetic) {
            continue;
        }
        if let Some(inline) = panic_message(message) {
            expects_cause = inline.is_empty();
            if !expects_cause {
                all.add(at, LineKind::Fault, inline);
            }
            continue;
        }
        if is_cause_label(message) {
            expects_cause = true;
            continue;
        }
        let kind = match line_kind(message) {
            LineKind::Plain | LineKind::Weak if expects_cause => LineKind::Fault,
            kind @ (LineKind::Fault
            | LineKind::Assertion
            | LineKind::Finding
            | LineKind::Warning
            | LineKind::Weak
            | LineKind::Summary
            | LineKind::Status
            | LineKind::Plain) => kind,
        };
        expects_cause &= matches!(kind, LineKind::Summary | LineKind::Status);
        let is_source = marks_errors && is_indented;
        if !is_source {
            all.add(at, kind, message);
        }
    }
    all
}

impl<'o> Candidates<'o> {
    /// Returns the line that names the fault.
    fn best(&self) -> Option<FoundCause<'o>> {
        let in_test = self.tests.iter().find_map(|(_, found)| *found);
        let warning = self.warning.filter(|_| self.denies_warnings);
        in_test
            .or(self.fault)
            .or(self.assertion)
            .or(warning)
            .or(self.finding)
            .or(self.weak)
            .or(self.summary.filter(|found| names_failure(found.message)))
            .or(self.last.filter(|_| self.ends_plain))
            .or(self.summary)
            .or(self.last)
    }

    /// Returns the failing test with this message, unless several tests have it.
    fn single_test(&self, message: &str) -> Option<String> {
        let signature = text::error_identity(message);
        let mut names = self.tests.iter().filter_map(|(name, found)| {
            let is_same =
                found.is_some_and(|found| text::error_identity(found.message) == signature);
            is_same.then_some(*name)
        });
        let first = names.next()?;
        // The same test may be named again in a list at the end.
        names
            .all(|name| name.contains(first) || first.contains(name))
            .then(|| text::excerpt(first, TEST_CHARS_MAX))
    }

    fn add(&mut self, at: usize, kind: LineKind, message: &'o str) {
        let found = FoundCause { at, message };
        let place = match kind {
            LineKind::Status => return,
            LineKind::Plain => {
                (self.last, self.ends_plain) = (Some(found), true);
                return;
            }
            LineKind::Fault => &mut self.fault,
            LineKind::Assertion => &mut self.assertion,
            LineKind::Finding => &mut self.finding,
            LineKind::Warning => &mut self.warning,
            LineKind::Weak => &mut self.weak,
            LineKind::Summary => {
                let lower = message.to_lowercase();
                self.denies_warnings |=
                    lower.contains("warnings-as-errors") || lower.contains("-d warnings");
                &mut self.summary
            }
        };
        place.get_or_insert(found);
        if let (LineKind::Fault | LineKind::Assertion, Some((_, cause))) =
            (kind, self.tests.last_mut())
        {
            cause.get_or_insert(found);
        }
        (self.last, self.ends_plain) = (Some(found), false);
    }
}

/// Returns true for a summary that reports a failure, not only a count.
fn names_failure(summary: &str) -> bool {
    let lower = summary.to_lowercase();
    lower.contains("error") || lower.contains("fail")
}

/// Returns the message of a Rust panic, which is empty if the next line has it.
fn panic_message(message: &str) -> Option<&str> {
    let (_, rest) = message
        .starts_with("thread '")
        .then(|| message.split_once("panicked at "))??;
    match rest.strip_prefix('\'') {
        Some(quoted) => Some(quoted.rsplit_once('\'').map_or(quoted, |(inner, _)| inner)),
        None => Some(""),
    }
}

/// Returns true for a heading after which the cause is printed: .NET and Gradle.
fn is_cause_label(message: &str) -> bool {
    matches!(message, "Error Message:" | "* What went wrong:")
}

/// Returns the innermost exception of a Java stack trace that begins with `found`.
fn root_exception<'o>(lines: &[&'o str], found: FoundCause<'o>) -> FoundCause<'o> {
    let mut root = found;
    let mut others = 0;
    for (at, line) in lines.iter().enumerate().skip(found.at + 1) {
        let line = line.trim();
        if let Some(message) = line
            .strip_prefix("Caused by: ")
            .filter(|rest| !rest.is_empty())
        {
            root = FoundCause { at, message };
        } else if !(line.is_empty() || line.starts_with("at ") || line.starts_with("... ")) {
            others += 1;
        }
        if others > DETAIL_LINES / 4 {
            break;
        }
    }
    root
}

/// Returns the message with the lines that complete it: the text after a label, and the compared values.
fn with_details(lines: &[&str], found: FoundCause<'_>) -> String {
    let mut out = found.message.to_owned();
    let next = lines.iter().skip(found.at + 1).take(DETAIL_LINES);
    let mut details = next
        .map(|line| message_of(line))
        .filter(|line| !line.is_empty());
    let is_label = out.ends_with(':') || out.to_lowercase().starts_with("failure/error:");
    if is_label && let Some(content) = details.next() {
        out = format!(
            "{out} {}",
            text::clip(content, limits::HOOK_ERROR_CHARS_MAX)
        );
    }
    if is_label || line_kind(found.message) == LineKind::Assertion {
        let values = details.filter(|line| is_compared_value(line));
        for value in values.take(2) {
            if text::chars(value) <= DETAIL_CHARS_MAX && !out.contains(value) {
                out = format!("{out}; {value}");
            }
        }
    }
    out
}

/// Returns true for a line with a compared value or the compared code.
fn is_compared_value(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "expected", "received", "actual", "got:", "got ", "left:", "right:", "code:", "want",
        "but was",
    ];
    let lower = line.to_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests;

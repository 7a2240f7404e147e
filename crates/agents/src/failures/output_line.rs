//! Kinds of lines in the output of a failed command.

use super::output_phrases::{ASSERTIONS, COUNTED, ERROR_WORDS, FAULTS, NOISE, SUMMARIES};
use aho_corasick::AhoCorasick;
use heirloom_model::text;
use std::sync::OnceLock;

/// Kind of an output line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Names the fault: a compiler error, an exception with its message, a missing file.
    Fault,
    /// Reports a comparison that did not hold.
    Assertion,
    /// Finding of a linter.
    Finding,
    /// Warning.
    Warning,
    /// Contains an error word, but no recognised form.
    Weak,
    /// Counts failures, or says only that something failed.
    Summary,
    /// Exit status or wrapper: never the cause.
    Status,
    /// Any other text.
    Plain,
}

/// Characters of a line that are looked at.
const LINE_CHARS_MAX: usize = 400;

/// Characters that tools draw before a message.
const GUTTER: [char; 27] = [
    '│', '┃', '|', '>', '●', '✕', '✗', '✘', '✖', '×', '❌', '⨯', '⎯', '─', '━', '┌', '└', '├', '╭',
    '╰', '╵', '╷', '❯', '•', '▲', '➤', '→',
];

/// Labels that tools put before a message.
const LABELS: [&str; 14] = [
    "npm ERR! ",
    "npm error ",
    "npm WARN ",
    "[ERROR] ",
    "- ",
    "[error] ",
    "[FATAL] ",
    "##[error]",
    "** ",
    "Output: ",
    "stderr: ",
    "error Command failed",
    "[stderr] ",
    "ERR! ",
];

/// Returns the message of a line: without colours, gutters and labels of tools.
pub(super) fn message_of(line: &str) -> &str {
    let mut rest = text::clip(line.trim(), LINE_CHARS_MAX);
    loop {
        let before = rest.len();
        rest = rest
            .trim_start_matches(|c| GUTTER.contains(&c))
            .trim_start();
        for label in LABELS {
            rest = rest.strip_prefix(label).unwrap_or(rest).trim_start();
        }
        rest = without_pytest_mark(without_build_step(rest));
        if rest.len() == before {
            return rest;
        }
    }
}

/// Removes the `E` before an error of pytest.
fn without_pytest_mark(line: &str) -> &str {
    match line.strip_prefix("E  ") {
        Some(rest) => rest.trim_start(),
        None => line,
    }
}

/// Removes the number and time before a line of `docker build`.
fn without_build_step(line: &str) -> &str {
    let is_number = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let mut words = line.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(step), Some(seconds), Some(rest))
            if step.strip_prefix('#').is_some_and(is_number) && is_number(seconds) =>
        {
            rest.trim_start()
        }
        _ => line,
    }
}

/// Phrases that a message contains.
#[derive(Debug, Clone, Copy, Default)]
struct Phrases {
    /// One of [`FAULTS`].
    fault: bool,
    /// One of [`SUMMARIES`].
    summary: bool,
    /// One of [`ERROR_WORDS`].
    error_word: bool,
}

impl Phrases {
    fn find(lower: &str) -> Self {
        static AUTOMATON: OnceLock<Option<AhoCorasick>> = OnceLock::new();
        let build = || {
            let all = FAULTS.iter().chain(&SUMMARIES).chain(&ERROR_WORDS);
            AhoCorasick::new(all).ok()
        };
        let mut found = Self::default();
        let Some(automaton) = AUTOMATON.get_or_init(build) else {
            return found;
        };
        for one in automaton.find_overlapping_iter(lower) {
            match one.pattern().as_usize() {
                n if n < FAULTS.len() => found.fault = true,
                n if n < FAULTS.len() + SUMMARIES.len() => found.summary = true,
                _ => found.error_word = true,
            }
        }
        found
    }
}

/// Returns the kind of a message; see [`message_of`].
pub(super) fn line_kind(message: &str) -> LineKind {
    if !message.contains(char::is_alphabetic) {
        return LineKind::Plain;
    }
    let lower = message.to_lowercase();
    if is_status(&lower) {
        return LineKind::Status;
    }
    let phrases = Phrases::find(&lower);
    if is_summary(&lower, phrases) {
        return LineKind::Summary;
    }
    if is_noise(message, &lower) {
        return LineKind::Plain;
    }
    if lower.starts_with("warning") || lower.starts_with("[warn") || lower.starts_with("warn") {
        return LineKind::Warning;
    }
    if ASSERTIONS.iter().any(|start| lower.starts_with(start)) || lower.contains("_test.go:") {
        return LineKind::Assertion;
    }
    if is_exception(message) || is_compiler_error(&lower) || is_located(message) || phrases.fault {
        return LineKind::Fault;
    }
    if is_finding(message) {
        return LineKind::Finding;
    }
    match phrases.error_word {
        true => LineKind::Weak,
        false => LineKind::Plain,
    }
}

/// Returns true for exit codes, and for wrappers around an output.
fn is_status(lower: &str) -> bool {
    const STARTS: [&str; 12] = [
        "exit code",
        "exit status",
        "exited with",
        "process exited",
        "process group",
        "background pids",
        "wall time",
        "chunk id",
        "original token count",
        "```",
        "<untrusted_context",
        "</untrusted_context",
    ];
    const PARTS: [&str; 5] = [
        "exit code ",
        "exit code:",
        "exit status ",
        "exited with ",
        "exit 1",
    ];
    let is_wrapper = lower.starts_with('<') && lower.ends_with('>') && !lower.contains(' ');
    is_wrapper
        || STARTS.iter().any(|start| lower.starts_with(start))
        || PARTS.iter().any(|part| lower.contains(part))
}

/// Returns true for lines that count failures or only say that something failed.
fn is_summary(lower: &str, phrases: Phrases) -> bool {
    if phrases.summary {
        // Maven names the artifact on the same line.
        return !(lower.contains("could not resolve") || lower.contains("could not find"));
    }
    let has_count = lower.contains(|c: char| c.is_ascii_digit());
    let mut words = lower
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    let is_bare = matches!(
        lower.trim_end_matches([':', '!', '.']),
        "failed" | "fail" | "error" | "failure"
    );
    is_bare || has_count && words.all(|word| COUNTED.contains(&word))
}

/// Returns true for progress, stack frames, hints and source code.
fn is_noise(message: &str, lower: &str) -> bool {
    let is_passed = (lower.contains("passed") || lower.ends_with("... ok"))
        && !lower.contains("fail")
        && !lower.contains("error:");
    let counts_none = ["0 errors", "0 failed", "0 failures", "no errors"]
        .iter()
        .any(|words| lower.contains(words));
    // A line of source code after its number.
    let code = message.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_source = code.len() < message.len() && code.trim_start().starts_with(['|', '│']);
    // pytest ends a traceback with the place and the name of the exception.
    let is_place = message.split_once(": ").is_some_and(|(place, name)| {
        place.ends_with(|c: char| c.is_ascii_digit())
            && name.ends_with("Error")
            && !name.contains(' ')
    });
    let throws = [
        "throw new ",
        "raise_error",
        "console.error",
        "fmt.errorf",
        "logger.",
    ];
    is_passed
        || counts_none
        || is_source
        || is_place
        || NOISE.iter().any(|start| lower.starts_with(start))
        || throws.iter().any(|words| lower.contains(words))
}

/// Returns true for an exception with its message.
fn is_exception(message: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "Uncaught ",
        "Unhandled exception. ",
        "Caused by: ",
        "PHP ",
        "Unhandled Exception: ",
        "Error while ",
    ];
    if [
        "panic: ",
        "fatal: ",
        "fatal error: ",
        "Fatal error: ",
        "Exception in thread ",
    ]
    .iter()
    .any(|start| message.starts_with(start))
    {
        return true;
    }
    // Elixir: `(RuntimeError) no configuration`.
    if let Some((name, rest)) = message
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "))
    {
        return is_exception_name(name) && !rest.is_empty();
    }
    // Ruby: `undefined method 'x' for nil (NoMethodError)`.
    if let Some((_, name)) = message
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
        && is_exception_name(name)
    {
        return true;
    }
    let rest = PREFIXES
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .unwrap_or(message);
    match rest.split_once(':') {
        Some((name, said)) => is_exception_name(name) && (said.starts_with(' ') || said.is_empty()),
        None => is_exception_name(rest) && rest.len() > "Exception".len(),
    }
}

/// Returns true for names such as `ValueError`, `java.net.ConnectException` and `error`.
fn is_exception_name(name: &str) -> bool {
    const ENDS: [&str; 8] = [
        "Error",
        "Exception",
        "ERROR",
        "error",
        "NotFound",
        "Timeout",
        "Invalid",
        "Fault",
    ];
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '\\' | '$' | '/'));
    is_name && ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns true for errors of compilers: `error[E0308]:`, `a.c:3:5: error:`, `error TS2345:`.
fn is_compiler_error(lower: &str) -> bool {
    let mut from = 0;
    while let Some(found) = lower.get(from..).and_then(|rest| rest.find("error")) {
        let at = from + found;
        let before = lower.get(..at).unwrap_or_default();
        let after = lower.get(at + 5..).unwrap_or_default();
        let is_word = before.is_empty() || before.ends_with([' ', ':', '[', '(']);
        let code = after.trim_start_matches(' ');
        let letters = code.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let has_code = (1..=7).contains(&(code.len() - letters.len()))
            && letters.starts_with(|c: char| c.is_ascii_digit())
            && after.starts_with(' ');
        if is_word && (after.starts_with(['[', ':']) || has_code || after.starts_with("  ")) {
            return true;
        }
        from = at + 5;
    }
    lower.starts_with("e: file:") || lower.starts_with("e: /")
}

/// Returns true for a message after its place, as in `a.go:12:3: undefined: x`.
fn is_located(message: &str) -> bool {
    let Some((place, said)) = message.split_once(": ") else {
        return false;
    };
    let mut parts = place.rsplitn(3, ':');
    let last = parts.next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let file = match (parts.next(), parts.next()) {
        (Some(line), Some(file)) if is_number(line) => file,
        (Some(file), None) => file,
        (Some(middle), Some(_)) if middle.contains('.') => middle,
        _ => return false,
    };
    let has_extension = file.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=6).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let is_frame = said.starts_with(['(', '#']) || said.starts_with("in ") || !said.contains(' ');
    is_number(last) && has_extension && !file.contains(' ') && !is_frame
}

/// Returns true for a finding of a linter that marks its findings with a letter in brackets.
fn is_finding(message: &str) -> bool {
    let mut chars = message.chars();
    chars.next() == Some('[')
        && chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.next() == Some(']')
        && chars.as_str().starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_kind_of_common_lines() {
        use LineKind::{Assertion, Fault, Finding, Plain, Status, Summary, Warning, Weak};
        for (line, kind) in [
            ("error[E0308]: mismatched types", Fault),
            ("src/a.c:3:5: error: expected ';' before '}' token", Fault),
            (
                "src/a.ts(3,5): error TS2322: Type 'x' is not assignable",
                Fault,
            ),
            (
                "Program.cs(3,5): error CS0103: The name 'x' does not exist",
                Fault,
            ),
            ("./x.go:12:3: undefined: Foo", Fault),
            ("e: file:///p/A.kt:3:5 Unresolved reference: x", Fault),
            (
                "   3:5  error  'x' is assigned a value but never used  no-unused-vars",
                Fault,
            ),
            ("ModuleNotFoundError: No module named 'yaml'", Fault),
            ("     ** (RuntimeError) no configuration found", Fault),
            ("E       ValueError: bad input", Fault),
            (
                "Caused by: java.net.ConnectException: Connection refused",
                Fault,
            ),
            ("undefined method 'x' for nil (NoMethodError)", Fault),
            ("✘ [ERROR] Could not resolve \"js/app.js\"", Fault),
            ("fatal: not a git repository", Fault),
            ("npm ERR! Missing script: \"lint\"", Fault),
            ("#8 0.512 E: Unable to locate package x", Weak),
            ("zsh:1: no matches found: src/(a)/b", Fault),
            ("make: *** No rule to make target 'x'.  Stop.", Fault),
            ("│ Error: Missing required argument", Fault),
            ("ERROR:  relation \"x\" does not exist", Fault),
            ("AssertionError: expected 3 to equal 4", Assertion),
            ("assertion `left == right` failed", Assertion),
            ("    add_test.go:9: got 3, want 4", Assertion),
            ("E       assert 3 == 4", Assertion),
            ("Failed asserting that 3 matches expected 4.", Assertion),
            (
                "┃ [R] ↗ Function body is nested too deep (max depth is 2, was 3).",
                Finding,
            ),
            ("warning: unused variable: `x`", Warning),
            ("3 tests failed", Summary),
            ("58 tests, 1 failure", Summary),
            ("Tests:       1 failed, 2 passed, 3 total", Summary),
            (
                "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
                Summary,
            ),
            (
                "error: could not compile `x` (lib) due to 2 previous errors",
                Summary,
            ),
            ("error: test failed, to rerun pass `--lib`", Summary),
            ("npm ERR! code ELIFECYCLE", Summary),
            ("Error: Build failed with 1 error", Summary),
            ("make: *** [Makefile:3: all] Error 1", Summary),
            ("FAILURE: Build failed with an exception.", Summary),
            ("✖ 3 problems (3 errors, 0 warnings)", Summary),
            ("Exit code 1", Status),
            ("Error: Process completed with exit code 1.", Status),
            ("<untrusted_context>", Status),
            ("```", Plain),
            ("test tests::error_path ... ok", Plain),
            ("    Compiling thiserror v1.0.0", Plain),
            ("       at Object.<anonymous> (a.test.js:3:5)", Plain),
            ("       test/a_test.exs:86: (test)", Plain),
            ("tests/test_a.py:12: AssertionError", Plain),
            ("12 │   throw new Error('x')", Plain),
            ("all is well", Plain),
            ("the request was denied", Weak),
        ] {
            assert_eq!(line_kind(message_of(line)), kind, "{line}");
        }
    }
}

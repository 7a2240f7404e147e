//! Names of tests that passed, in the output of test runners.

use heirloom_agents::failures::test_of_error;
use heirloom_model::text;
use std::collections::HashSet;

/// Lines of an output that are read; test runners print one for each test.
const LINES_MAX: usize = 20_000;
/// Longest name of a test, bytes.
const NAME_BYTES_MAX: usize = 300;

/// Tests of one output that passed, without those that also failed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PassedTests {
    names: HashSet<String>,
}

impl PassedTests {
    /// Reads an output.
    pub(crate) fn read(output: &str) -> Self {
        let plain = text::strip_ansi(output);
        let (mut names, mut failed) = (HashSet::new(), HashSet::new());
        for line in plain.lines().take(LINES_MAX) {
            if let Some(name) = passed_test(line).and_then(valid_name) {
                names.insert(name);
            } else if let Some(name) = failed_test(line).and_then(valid_name) {
                failed.insert(name);
            }
        }
        names.retain(|name| !failed.contains(name));
        Self { names }
    }

    /// Returns the tests that recorded failures name, and that passed since because the failures are gone.
    pub(crate) fn of_gone_failures<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let tests = texts.into_iter().filter_map(test_of_error);
        Self {
            names: tests.filter_map(valid_name).collect(),
        }
    }

    /// Returns the tests that failed in an output, as those that pass when the same command passes.
    pub(crate) fn of_failed_run(output: &str) -> Self {
        let plain = text::strip_ansi(output);
        let lines = plain.lines().take(LINES_MAX);
        Self {
            names: lines
                .filter_map(failed_test)
                .filter_map(valid_name)
                .collect(),
        }
    }

    /// Returns true if no test is known to have passed.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns true if an error names tests and all of them passed.
    pub(crate) fn cover(&self, error: &str) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let named = named_tests(error);
        if !named.is_empty() {
            return named.iter().all(|test| self.has_passed(test));
        }
        // Names of several words, such as `adds two numbers`.
        let lower = error.to_lowercase();
        let is_named = |name: &&String| name.contains(' ') && contains_phrase(&lower, name);
        self.names.iter().any(|name| is_named(&name))
    }

    /// Returns true if the test passed, with or without its module.
    fn has_passed(&self, test: &str) -> bool {
        let matches =
            |name: &String| name == test || is_path_end(name, test) || is_path_end(test, name);
        self.names.contains(test) || self.names.iter().any(matches)
    }
}

/// Returns true if `end` is the last part of a path of modules.
fn is_path_end(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|before| {
        before.ends_with("::") || before.ends_with('#') || before.ends_with('.')
    })
}

/// Returns a name in the form in which names are compared.
fn valid_name(name: &str) -> Option<String> {
    let name = name.trim();
    let is_name =
        !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.contains(char::is_alphabetic);
    is_name.then(|| name.to_lowercase())
}

/// Returns the words of an error that can only be names of tests.
fn named_tests(error: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in
        error.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';'))
    {
        let bare =
            word.trim_matches(|c: char| matches!(c, '(' | ')' | ':' | '.' | '!' | '?' | '<' | '>'));
        // pytest: the file before the name is not compared.
        let bare = match bare.rsplit_once("::") {
            Some((before, name)) if before.contains('/') || before.ends_with(".py") => name,
            _ => bare,
        };
        if is_test_name(bare) {
            found.push(bare.to_lowercase());
        }
    }
    found
}

/// Returns true for a word such as `test_adds`, `TestAdds`, `cart::tests::adds` or `CartTest#test_adds`.
fn is_test_name(word: &str) -> bool {
    let is_path = word.contains('/') && !word.starts_with("Test");
    let has_file_end = word
        .rsplit_once('.')
        .is_some_and(|(_, end)| end.len() <= 4 && end.bytes().all(|b| b.is_ascii_lowercase()));
    let names_test = word.to_ascii_lowercase().contains("test");
    let is_compound = word.contains(['_', '#'])
        || word.contains("::")
        || word.bytes().any(|byte| byte.is_ascii_digit())
        || (word.contains(char::is_lowercase) && word.chars().skip(1).any(char::is_uppercase));
    names_test && is_compound && !is_path && !has_file_end
}

/// Returns true if a text contains a phrase that is not part of longer words.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    const CHARS_MIN: usize = 10;
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    phrase.len() >= CHARS_MIN
        && text.match_indices(phrase).any(|(at, found)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text
                .get(at + found.len()..)
                .and_then(|after| after.chars().next());
            !is_word(before) && !is_word(after)
        })
}

/// Returns the name of a test that passed.
fn passed_test(line: &str) -> Option<&str> {
    let line = line.trim();
    // Rust, unittest, Deno: `test NAME ... ok`.
    if let Some((name, end)) = line.rsplit_once(" ... ") {
        let is_ok = end == "ok" || end.starts_with("ok (") || end.starts_with("ok <");
        return is_ok.then(|| name_before_dots(name));
    }
    // nextest: `PASS [   0.005s] crate module::name`.
    if let Some(rest) = line.strip_prefix("PASS [") {
        return rest.split_once("] ")?.1.split_whitespace().last();
    }
    if let Some(rest) = line.strip_prefix("--- PASS: ") {
        return rest.split(' ').next();
    }
    // pytest: `tests/test_a.py::test_x PASSED [ 50%]`.
    if let Some((name, _)) = line.split_once(" PASSED") {
        return named_with_status(name);
    }
    if let Some(rest) = line.strip_prefix("ok ") {
        return tap_name(rest);
    }
    for mark in ["✓ ", "✔ ", "√ "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return Some(without_time(rest));
        }
    }
    // .NET: `Passed Shop.CartTests.Adds [5 ms]`.
    if let Some(rest) = line.strip_prefix("Passed ") {
        return rest.split_once(" [").map(|(name, _)| name);
    }
    // minitest: `CartTest#test_adds = 0.00 s = .`.
    if let Some(rest) = line.strip_suffix(" = .") {
        return rest.split_once(" = ").map(|(name, _)| name);
    }
    // XCTest: `Test Case '-[Shop.CartTests testAdds]' passed (0.001 seconds).`
    let rest = line.strip_prefix("Test Case '")?;
    let (name, end) = rest.split_once("' ")?;
    let is_passed = end.starts_with("passed");
    is_passed.then(|| name.trim_matches(['-', '[', ']']))
}

/// Returns the name of a test that failed.
fn failed_test(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some((name, end)) = line.rsplit_once(" ... ") {
        let is_failed = ["FAILED", "FAIL", "ERROR"]
            .iter()
            .any(|mark| end.starts_with(mark));
        return is_failed.then(|| name_before_dots(name));
    }
    if let Some(rest) = line.strip_prefix("FAIL [") {
        return rest.split_once("] ")?.1.split_whitespace().last();
    }
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return rest.split(' ').next();
    }
    if let Some(rest) = line.strip_prefix("FAILED ") {
        return named_with_status(rest.split(" - ").next().unwrap_or(rest));
    }
    if let Some((name, _)) = line.split_once(" FAILED") {
        return named_with_status(name);
    }
    if let Some(rest) = line.strip_prefix("not ok ") {
        return tap_name(rest);
    }
    for mark in ["✗ ", "✘ ", "✕ ", "✖ ", "× "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return Some(without_time(rest));
        }
    }
    None
}

/// Returns the name of a test before ` ... ok`: `test NAME`, or `NAME (module)` of unittest.
fn name_before_dots(name: &str) -> &str {
    let name = name.strip_prefix("test ").unwrap_or(name);
    match name.split_once(" (") {
        Some((first, _)) if !first.contains(' ') => first,
        _ => name,
    }
}

/// Returns the name of pytest or Gradle next to its status.
fn named_with_status(name: &str) -> Option<&str> {
    let name = name.trim();
    if let Some((file, test)) = name.rsplit_once("::") {
        return file.contains(".py").then_some(test);
    }
    name.contains(" > ").then_some(name)
}

/// Returns the name in a line of TAP after `ok `: `1 - adds # time=5ms`.
fn tap_name(rest: &str) -> Option<&str> {
    let (number, name) = rest.split_once(' ')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.trim_start().strip_prefix("- ").unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let is_run = !lower.contains("# skip") && !lower.contains("# todo");
    (is_number && is_run).then(|| name.split(" #").next().unwrap_or(name))
}

/// Returns a name without the time that some runners append: `adds (5 ms)`, `adds 5ms`.
fn without_time(name: &str) -> &str {
    let name = name.trim();
    if let Some((before, end)) = name.rsplit_once(" (")
        && end.ends_with("s)")
        && end.starts_with(|c: char| c.is_ascii_digit())
    {
        return before;
    }
    match name.rsplit_once(' ') {
        Some((before, end))
            if end.ends_with("ms") && end.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            before
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_of_test_runners() {
        for (line, name) in [
            ("test tests::adds ... ok", Some("tests::adds")),
            ("test tests::adds ... FAILED", None),
            ("test tests::adds ... ignored", None),
            (
                "        PASS [   0.005s] shop cart::tests::adds",
                Some("cart::tests::adds"),
            ),
            ("--- PASS: TestAdd/case_2 (0.00s)", Some("TestAdd/case_2")),
            (
                "tests/test_a.py::test_x PASSED            [ 50%]",
                Some("test_x"),
            ),
            ("test_add (calc.TestCalc) ... ok", Some("test_add")),
            (
                "ok 1 - adds two numbers # time=5ms",
                Some("adds two numbers"),
            ),
            ("ok 2 - later # SKIP", None),
            ("ok", None),
            ("ok  \tgithub.com/x/y\t0.01s", None),
            ("  ✓ adds two numbers (5 ms)", Some("adds two numbers")),
            ("  ✔ adds two numbers 12ms", Some("adds two numbers")),
            (
                "  Passed Shop.CartTests.Adds [5 ms]",
                Some("Shop.CartTests.Adds"),
            ),
            ("CartTest > adds() PASSED", Some("CartTest > adds()")),
            (
                "CartTest#test_adds = 0.00 s = .",
                Some("CartTest#test_adds"),
            ),
            (
                "Test Case '-[Shop.CartTests testAdds]' passed (0.001 seconds).",
                Some("Shop.CartTests testAdds"),
            ),
            ("2 passed in 0.1s", None),
            ("", None),
        ] {
            assert_eq!(passed_test(line), name, "{line}");
        }
    }

    #[test]
    fn cover_needs_all_tests_of_the_error() {
        let passed = PassedTests::read(
            "test tests::test_1 ... ok\ntest tests::test_2 ... FAILED\ntest cart::adds ... ok\n\
             ok 1 - adds two numbers\ntests/test_a.py::test_login PASSED\n--- PASS: TestTokenExpiry (0.00s)",
        );
        for (error, is_covered) in [
            ("test_1 failed: connection refused", true),
            ("tests::test_1 panicked", true),
            ("`cargo test` failed: assertion (tests::test_1)", true),
            ("FAILED tests/test_a.py::test_login - assert 1 == 2", true),
            ("TestTokenExpiry: got nil", true),
            ("'adds two numbers' fails", true),
            ("test_2 failed: connection refused", false),
            ("test_10 failed", false),
            ("test_1 passes, but test_2 fails", false),
            ("test failed", false),
            ("cannot open tests/test_1.rs", false),
            ("adds fails", false),
            ("", false),
        ] {
            assert_eq!(passed.cover(error), is_covered, "{error}");
        }
        assert!(!PassedTests::default().cover("test_1 failed"));
    }

    #[test]
    fn test_that_also_failed_has_not_passed() {
        for output in [
            "test a_test::x ... ok\ntest a_test::x ... FAILED",
            "ok 1 - test_a_1\nnot ok 2 - test_a_1",
            "✓ test_a_1\n✗ test_a_1",
            "t.py::test_a_1 PASSED\nFAILED t.py::test_a_1 - boom",
        ] {
            assert!(PassedTests::read(output).is_empty(), "{output}");
        }
    }

    proptest::proptest! {
        #[test]
        fn passed_tests_handle_any_output(output in "(test |ok |✓ | \\.\\.\\. ok| PASSED|::|\n|\\PC|\u{0}){0,40}", error in "(test_|::| |\\PC){0,20}") {
            PassedTests::read(&output).cover(&error);
        }
    }
}

//! Names of failing tests in the output of test runners.

/// Heading of a failing test.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailingTest<'o> {
    /// Name of the test.
    pub(super) name: &'o str,
    /// Message on the same line.
    pub(super) message: Option<&'o str>,
}

impl<'o> FailingTest<'o> {
    fn new(name: &'o str) -> Option<Self> {
        let name = name.trim();
        let is_name = name.contains(char::is_alphabetic);
        is_name.then_some(Self {
            name,
            message: None,
        })
    }
}

/// Returns the name of the failing test that the text of a failure has in parentheses at its end.
pub fn test_of_error(error: &str) -> Option<&str> {
    let (_, name) = error.strip_suffix(')')?.rsplit_once(" (")?;
    let is_exception = name.ends_with("Error") || name.ends_with("Exception");
    Some(name).filter(|name| name.len() >= 4 && !is_exception && !name.starts_with("expected "))
}

/// Recognises the heading of a failing test.
pub(super) fn failing_test(line: &str) -> Option<FailingTest<'_>> {
    let line = line.trim();
    // pytest: `FAILED tests/test_a.py::test_x - AssertionError: …`.
    for label in ["FAILED ", "ERROR "] {
        if let Some(rest) = line.strip_prefix(label).filter(|rest| is_test_path(rest)) {
            let (name, message) = match rest.split_once(" - ") {
                Some((name, message)) => (name, Some(message)),
                None => (rest, None),
            };
            // A file that cannot be collected is no test.
            let (_, name) = name.rsplit_once("::")?;
            return Some(FailingTest { name, message });
        }
    }
    named_by_prefix(line)
        .or_else(|| named_by_suffix(line))
        .or_else(|| named_by_number(line))
        .and_then(FailingTest::new)
}

/// Returns true for the path of a pytest test.
fn is_test_path(rest: &str) -> bool {
    let path = rest.split(' ').next().unwrap_or_default();
    path.contains(".py")
}

/// Returns the name after a mark: Go, Rust, Jest, Vitest, unittest, .NET.
fn named_by_prefix(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return rest.split(' ').next();
    }
    if let Some(rest) = line.strip_prefix("---- ") {
        return rest.strip_suffix(" ----")?.strip_suffix(" stdout");
    }
    if let Some(rest) = line.strip_prefix("● ") {
        return Some(rest).filter(|rest| rest.contains(" › "));
    }
    if let Some(rest) = line.strip_prefix("FAIL ") {
        return rest.split_once(" > ").map(|(_, name)| name);
    }
    for label in ["FAIL: ", "ERROR: "] {
        if let Some(rest) = line.strip_prefix(label) {
            return rest
                .split_once(" (")
                .map(|(name, _)| name)
                .filter(|name| name.starts_with("test") && !name.contains(' '));
        }
    }
    if let Some(rest) = line.strip_prefix("Failed ") {
        let (name, time) = rest.split_once(" [")?;
        return Some(name).filter(|name| time.ends_with("s]") && name.contains('.'));
    }
    let inner = line.strip_prefix("____")?.strip_suffix("____")?;
    Some(inner.trim_matches(['_', ' '])).filter(|name| !name.starts_with("ERROR "))
}

/// Returns the name before a mark: Rust, Gradle, Surefire, xUnit, minitest.
fn named_by_suffix(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED");
    }
    if let Some(rest) = line.strip_suffix(" FAILED") {
        return Some(rest).filter(|rest| rest.contains(" > "));
    }
    if let Some((name, _)) = line.split_once(" Time elapsed:") {
        let is_failed = line.ends_with("<<< FAILURE!") || line.ends_with("<<< ERROR!");
        let name = name
            .trim()
            .trim_start_matches("[ERROR] ")
            .trim_end_matches(" --");
        return Some(name).filter(|_| is_failed);
    }
    if let Some(rest) = line.strip_suffix(" [FAIL]") {
        return rest.rsplit(' ').next();
    }
    let (name, rest) = line.split_once(" [")?;
    let is_minitest = name.contains("#test_") && !name.contains(' ') && rest.ends_with("]:");
    is_minitest.then_some(name)
}

/// Returns the name of a numbered failure: ExUnit, RSpec, PHPUnit, Mocha.
fn named_by_number(line: &str) -> Option<&str> {
    let (number, name) = line.split_once(") ")?;
    let is_number =
        !number.is_empty() && number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit());
    if !is_number || matches!(name, "Failure:" | "Error:") {
        return None;
    }
    // ExUnit puts the module after the name.
    let name = match name
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
    {
        Some((name, module)) if module.starts_with(|c: char| c.is_uppercase()) => name,
        _ => name,
    };
    Some(name.trim_end_matches(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_test_of_test_runners() {
        for (line, name) in [
            (
                "  1) test mount renders (App.PageTest)",
                Some("test mount renders"),
            ),
            ("  1) Cart adds an item", Some("Cart adds an item")),
            (
                "1) Tests\\FooTest::testBar",
                Some("Tests\\FooTest::testBar"),
            ),
            ("  2) adds numbers:", Some("adds numbers")),
            ("  ● cart › adds an item", Some("cart › adds an item")),
            ("  ● Console", None),
            (
                " FAIL  src/a.test.ts > cart > adds an item",
                Some("cart > adds an item"),
            ),
            ("FAIL src/a.test.ts", None),
            ("--- FAIL: TestAdd (0.00s)", Some("TestAdd")),
            ("---- tests::adds stdout ----", Some("tests::adds")),
            ("test tests::adds ... FAILED", Some("tests::adds")),
            ("_______ test_add _______", Some("test_add")),
            ("FAIL: test_add (calc.TestCalc)", Some("test_add")),
            ("ERROR: relation (x) is missing", None),
            (
                "  Failed Shop.CartTests.Adds [5 ms]",
                Some("Shop.CartTests.Adds"),
            ),
            (
                "    Shop.CartTests.Adds [FAIL]",
                Some("Shop.CartTests.Adds"),
            ),
            ("CartTest > adds() FAILED", Some("CartTest > adds()")),
            (
                "[ERROR] adds(CartTest)  Time elapsed: 0.01 s  <<< FAILURE!",
                Some("adds(CartTest)"),
            ),
            (
                "CartTest#test_adds [test/cart_test.rb:3]:",
                Some("CartTest#test_adds"),
            ),
            ("BUILD FAILED", None),
            ("1) Failure:", None),
            ("________", None),
        ] {
            assert_eq!(failing_test(line).map(|test| test.name), name, "{line}");
        }
        let test = failing_test("FAILED tests/test_a.py::test_add - assert 3 == 4").unwrap();
        assert_eq!(
            (test.name, test.message),
            ("test_add", Some("assert 3 == 4"))
        );
    }
}

//! Files stay small enough to be read at one sitting.

use super::Violation;
use super::tree::{Tree, is_test};

const RULE: &str = "sizes";

/// The most lines of a source file.
const LINES_MAX: usize = 800;

/// The most lines of a file of tests: tables of cases are long and easy.
const TEST_LINES_MAX: usize = 1_500;

/// Generated files and tables of data, by path. Code has no place here.
const EXEMPT: &[&str] = &[];

/// Finds source files above their limit.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let lines_max = if is_test(path) {
            TEST_LINES_MAX
        } else {
            LINES_MAX
        };
        let lines = text.lines().count();
        if lines > lines_max && !EXEMPT.contains(&path) {
            found.push(Violation::new(
                path,
                lines_max + 1,
                RULE,
                format!("{lines} lines, the limit is {lines_max}: give a part its own file"),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn file_over_limit_of_its_kind_is_violation() {
        for (path, lines, fails) in [
            ("src/a.rs", 800, false),
            ("src/a.rs", 801, true),
            ("src/a/tests.rs", 1_500, false),
            ("tests/a.rs", 1_501, true),
            ("docs/a.md", 5_000, false),
            ("tests/fixtures/a.rs", 5_000, false),
        ] {
            let text = "//\n".repeat(lines);
            let report = run_rule(check, &[(path, &text)]);
            assert_eq!(!report.is_empty(), fails, "{path} {lines}: {report:?}");
        }
    }

    #[test]
    fn violation_names_first_line_over_limit() {
        let text = "//\n".repeat(802);
        assert_eq!(
            run_rule(check, &[("a.rs", &text)]),
            ["a.rs:801: sizes: 802 lines, the limit is 800: give a part its own file"]
        );
    }
}

//! Tests that were skipped because the machine lacks their prerequisite, as the testkit reported them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Skipped tests by prerequisite. Its `Display` names each test and the reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SkippedTests {
    /// Names of tests, by prerequisite and remedy.
    tests: BTreeMap<(String, String), BTreeSet<String>>,
}

impl SkippedTests {
    /// Parses lines of name, prerequisite and remedy, separated by tabs.
    pub(super) fn parse(lines: &str) -> Self {
        let mut skipped = Self::default();
        for line in lines.lines() {
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            let [test, prerequisite, remedy] =
                std::array::from_fn(|_| parts.next().unwrap_or_default());
            let tests = skipped.tests.entry((prerequisite, remedy)).or_default();
            tests.insert(test);
        }
        skipped
    }

    /// Returns the number of tests.
    pub(super) fn count(&self) -> u64 {
        self.tests.values().map(|tests| tests.len() as u64).sum()
    }
}

impl fmt::Display for SkippedTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((prerequisite, remedy), tests) in &self.tests {
            writeln!(
                f,
                "skipped, because `{prerequisite}` is missing ({remedy}):"
            )?;
            for test in tests {
                writeln!(f, "  {test}")?;
            }
        }
        match self.tests.is_empty() {
            true => Ok(()),
            false => writeln!(
                f,
                "`cargo xtask check --require-all` makes these tests fail.\n"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_listed_by_prerequisite_with_reason() {
        let skipped = SkippedTests::parse(
            "store::b\tcitus\tname a server\n\
             cli::a\ttracing\tinstall strace\n\
             store::a\tcitus\tname a server\n\
             store::a\tcitus\tname a server\n",
        );
        assert_eq!(skipped.count(), 3);
        assert_eq!(
            skipped.to_string(),
            "skipped, because `citus` is missing (name a server):\n  store::a\n  store::b\n\
             skipped, because `tracing` is missing (install strace):\n  cli::a\n\
             `cargo xtask check --require-all` makes these tests fail.\n\n"
        );
    }

    #[test]
    fn nothing_is_printed_when_no_test_was_skipped() {
        let skipped = SkippedTests::parse("");
        assert_eq!((skipped.count(), skipped.to_string().as_str()), (0, ""));
    }
}

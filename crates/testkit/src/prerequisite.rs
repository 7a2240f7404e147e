//! Prerequisites of tests: programs and rights that a machine may lack.
//!
//! A test without its prerequisite is skipped and reported, never in silence. With [`REQUIRE_ALL_VARIABLE`] it fails.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;

/// Environment variable that makes a test without its prerequisite fail, if it has a value.
pub const REQUIRE_ALL_VARIABLE: &str = "HEIRLOOM_REQUIRE_ALL";

/// Environment variable with the file to which a skipped test adds a line: its name, its prerequisite and the remedy,
/// separated by tabs. `cargo xtask check` sets it, since runners count an early end as a passed test.
pub const SKIPPED_FILE_VARIABLE: &str = "HEIRLOOM_SKIPPED_FILE";

/// A program or a right that some tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prerequisite {
    /// The right to mount a file system in a namespace.
    Mount,
    /// The right to start a program as another user.
    OtherUser,
    /// A user to whom file permissions apply, which is not true for a superuser.
    OrdinaryUser,
    /// Node.js, which executes plugins.
    Node,
    /// A coordinator of Citus, which `HEIRLOOM_TEST_CITUS` names.
    Citus,
    /// A PostgreSQL server, which `HEIRLOOM_TEST_POSTGRES` names.
    Postgres,
    /// PgBouncer in front of that server, which `HEIRLOOM_TEST_PGBOUNCER` names.
    PgBouncer,
    /// The right to trace the system calls of a process.
    Tracing,
}

impl Prerequisite {
    fn name(self) -> &'static str {
        match self {
            Self::Mount => "mount",
            Self::OtherUser => "other-user",
            Self::OrdinaryUser => "ordinary-user",
            Self::Node => "node",
            Self::Citus => "citus",
            Self::Postgres => "postgres",
            Self::PgBouncer => "pgbouncer",
            Self::Tracing => "tracing",
        }
    }

    /// Returns an instruction for providing the prerequisite.
    fn remedy(self) -> &'static str {
        match self {
            Self::Mount => {
                "install util-linux (unshare, nsenter) and run as a superuser, or permit user namespaces"
            }
            Self::OtherUser => "install util-linux (setpriv) and run as a superuser",
            Self::OrdinaryUser => "run the tests as a user other than the superuser",
            Self::Node => "install Node.js 20 or newer",
            Self::Citus => "name a coordinator with workers in HEIRLOOM_TEST_CITUS",
            Self::Postgres => {
                "run the tests with a temporary server: `cargo xtask pg cargo nextest run`"
            }
            Self::PgBouncer => {
                "install PgBouncer and run the tests with it: `cargo xtask pg cargo nextest run`"
            }
            Self::Tracing => "install strace, and permit tracing (CAP_SYS_PTRACE in a container)",
        }
    }

    /// Returns `found`, or `None` after reporting that `test` is skipped; use it through [`require!`](crate::require).
    ///
    /// # Panics
    ///
    /// Nothing was found, and [`REQUIRE_ALL_VARIABLE`] has a value or the report cannot be written.
    #[must_use]
    #[track_caller]
    pub fn check<T>(self, test: &str, found: Option<T>) -> Option<T> {
        if found.is_none() {
            let is_required = value(REQUIRE_ALL_VARIABLE).is_some();
            let (name, remedy) = (self.name(), self.remedy());
            assert!(!is_required, "this test needs `{name}`: {remedy}");
            let reported = self.report_skip(test);
            assert!(reported.is_ok(), "the skip is not reported: {reported:?}");
        }
        found
    }

    fn report_skip(self, test: &str) -> std::io::Result<()> {
        let (name, remedy) = (self.name(), self.remedy());
        // Not `eprintln!`, whose text the test harness hides.
        writeln!(
            std::io::stderr(),
            "skipped {test}: it needs `{name}`: {remedy}"
        )?;
        let Some(file) = value(SKIPPED_FILE_VARIABLE) else {
            return Ok(());
        };
        // One write, because tests of other processes append to the file too.
        let line = format!("{test}\t{name}\t{remedy}\n");
        let mut file = File::options().append(true).create(true).open(file)?;
        file.write_all(line.as_bytes())
    }
}

/// Returns the value of a variable that is set and not empty.
fn value(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

/// Returns the path of the test function, given the type name of a function in it, such as
/// `faults::full_disk::run_continues::{{closure}}::place`.
#[must_use]
pub fn test_name(inner: &str) -> &str {
    let path = inner.rsplit_once("::").map_or(inner, |(path, _)| path);
    path.trim_end_matches("::{{closure}}")
}

/// Evaluates to the value of an `Option`, or reports that the test is skipped and ends the test function if the value is
/// missing.
///
/// ```
/// # fn strace() -> Option<()> { Some(()) }
/// use heirloom_testkit::{Prerequisite, require};
/// require!(Prerequisite::Tracing, strace());
/// ```
#[macro_export]
macro_rules! require {
    ($prerequisite:expr, $found:expr) => {{
        fn place() {}
        let test = $crate::test_name(::std::any::type_name_of_val(&place));
        match $prerequisite.check(test, $found) {
            Some(found) => found,
            None => return,
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Output};

    #[test]
    fn found_prerequisite_is_returned() {
        assert_eq!(Prerequisite::Tracing.check("a", Some(7)), Some(7));
    }

    #[test]
    #[ignore = "a child of the tests below"]
    fn child_without_prerequisite() {
        require!(Prerequisite::Mount, None::<()>);
        panic!("the test goes on");
    }

    /// Runs the test above in a process of its own, with one variable of its own.
    fn run_child(variable: &str, value: &std::path::Path) -> Output {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact"]);
        child.arg("prerequisite::tests::child_without_prerequisite");
        for name in [REQUIRE_ALL_VARIABLE, SKIPPED_FILE_VARIABLE] {
            child.env_remove(name);
        }
        child.env(variable, value).output().unwrap()
    }

    #[test]
    fn test_without_prerequisite_is_skipped_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skipped");
        let name = "heirloom_testkit::prerequisite::tests::child_without_prerequisite";
        let remedy = Prerequisite::Mount.remedy();
        for _ in 0..2 {
            let output = run_child(SKIPPED_FILE_VARIABLE, &file);
            let printed = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{printed}");
            assert_eq!(
                printed,
                format!("skipped {name}: it needs `mount`: {remedy}\n")
            );
        }
        let lines = std::fs::read_to_string(&file).unwrap();
        assert_eq!(lines, format!("{name}\tmount\t{remedy}\n").repeat(2));
    }

    #[test]
    fn required_prerequisite_fails_its_test() {
        let output = run_child(REQUIRE_ALL_VARIABLE, "1".as_ref());
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{printed}");
        assert!(
            printed.contains("this test needs `mount`: install"),
            "{printed}"
        );
    }

    #[test]
    fn name_of_test_has_no_inner_items() {
        for inner in ["a::b::test::place", "a::b::test::{{closure}}::place"] {
            assert_eq!(test_name(inner), "a::b::test");
        }
    }
}

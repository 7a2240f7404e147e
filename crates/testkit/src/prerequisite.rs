//! Prerequisites of tests: programs and rights that a machine may lack.
//!
//! A test without its prerequisite fails. Only a prerequisite that is named in [`SKIP_VARIABLE`] skips its tests.

/// Environment variable with the names of prerequisites, separated by commas, whose tests may be skipped.
pub const SKIP_VARIABLE: &str = "HEIRLOOM_SKIP_TESTS";

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
    /// Returns the name that the variable uses.
    #[must_use]
    pub fn name(self) -> &'static str {
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
            Self::Postgres | Self::PgBouncer => {
                "run the tests with a temporary server: `cargo xtask pg cargo nextest run`"
            }
            Self::Tracing => "install strace, and permit tracing (CAP_SYS_PTRACE in a container)",
        }
    }

    /// Returns `found`, or `None` if the test may be skipped; use it through [`require!`](crate::require).
    ///
    /// # Panics
    ///
    /// Nothing was found, and [`SKIP_VARIABLE`] does not name this prerequisite.
    #[must_use]
    #[track_caller]
    pub fn check<T>(self, found: Option<T>) -> Option<T> {
        let skipped = std::env::var(SKIP_VARIABLE).unwrap_or_default();
        assert!(
            found.is_some() || self.is_skipped(&skipped),
            "this test needs `{name}`: {}. To skip such tests, set {SKIP_VARIABLE}={name}",
            self.remedy(),
            name = self.name(),
        );
        found
    }

    fn is_skipped(self, names: &str) -> bool {
        names.split(',').any(|name| name.trim() == self.name())
    }
}

/// Evaluates to the value of an `Option`, or ends the test function if the value is missing and its tests may be
/// skipped. A missing value fails the test otherwise.
///
/// ```
/// # fn strace() -> Option<()> { Some(()) }
/// use heirloom_testkit::{Prerequisite, require};
/// require!(Prerequisite::Tracing, strace());
/// ```
#[macro_export]
macro_rules! require {
    ($prerequisite:expr, $found:expr) => {
        match $prerequisite.check($found) {
            Some(found) => found,
            None => return,
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_prerequisites_are_skipped() {
        for (names, is_skipped) in [
            ("", false),
            ("mount", true),
            ("tracing, mount", true),
            ("mounts", false),
            ("other-user", false),
        ] {
            assert_eq!(Prerequisite::Mount.is_skipped(names), is_skipped, "{names}");
        }
    }

    #[test]
    fn found_prerequisite_is_returned() {
        assert_eq!(Prerequisite::Tracing.check(Some(7)), Some(7));
    }
}

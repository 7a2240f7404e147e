//! Limit on the number of packages, each of which must be trusted and built.

use super::Violation;
use super::tree::Tree;

const RULE: &str = "lockfile";

const PATH: &str = "Cargo.lock";

/// The most packages in the lockfile.
const PACKAGES_MAX: usize = 420;

/// Counts the packages of the lockfile.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let Some(text) = tree.get(PATH) else {
        return vec![Violation::new(
            PATH,
            1,
            RULE,
            "missing: commit the lockfile, we ship a binary",
        )];
    };
    let packages = text
        .lines()
        .filter(|line| line.trim() == "[[package]]")
        .count();
    if packages <= PACKAGES_MAX {
        return Vec::new();
    }
    vec![Violation::new(
        PATH,
        1,
        RULE,
        format!(
            "{packages} packages, the budget is {PACKAGES_MAX}: `cargo tree` shows who brought them; \
             switch off a default feature, or do without"
        ),
    )]
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn lockfile_at_limit_passes_and_one_more_fails() {
        let lock = |count| "[[package]]\nname = \"a\"\n\n".repeat(count);
        assert!(run_rule(check, &[(PATH, &lock(420))]).is_empty());
        let report = run_rule(check, &[(PATH, &lock(421))]);
        assert!(report[0].contains("421 packages"), "{report:?}");
    }

    #[test]
    fn missing_lockfile_is_violation() {
        assert_eq!(run_rule(check, &[]).len(), 1);
    }
}

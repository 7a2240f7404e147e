//! A budget of packages: each one is code that somebody must trust and build.

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
    use super::super::said;
    use super::*;

    #[test]
    fn the_budget_itself_is_allowed() {
        let lock = |count| "[[package]]\nname = \"a\"\n\n".repeat(count);
        assert!(said(check, &[(PATH, &lock(420))]).is_empty());
        let said = said(check, &[(PATH, &lock(421))]);
        assert!(said[0].contains("421 packages"), "{said:?}");
    }

    #[test]
    fn a_missing_lockfile_is_said() {
        assert_eq!(said(check, &[]).len(), 1);
    }
}

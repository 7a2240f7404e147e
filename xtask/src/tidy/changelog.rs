//! Changes are told to users while they are fresh.

use super::Violation;
use super::tree::Tree;

const RULE: &str = "changelog";

const PATH: &str = "CHANGELOG.md";

const HEADING: &str = "## Unreleased";

/// Looks for the changelog and its section for what comes next.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let wrong = match tree.get(PATH) {
        None => "missing: write it, for users",
        Some(text) if !text.lines().any(|line| line.trim_end() == HEADING) => {
            "no section `## Unreleased`: add it above the last release"
        }
        Some(_) => return Vec::new(),
    };
    vec![Violation::new(PATH, 1, RULE, wrong)]
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn missing_unreleased_section_is_violation() {
        for (files, count) in [
            (&[][..], 1),
            (&[(PATH, "# Changelog\n\n## 1.0\n")], 1),
            (&[(PATH, "# Changelog\n\n## Unreleased\n\n- x\n")], 0),
        ] {
            assert_eq!(run_rule(check, files).len(), count, "{files:?}");
        }
    }
}

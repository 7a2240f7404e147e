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
    use super::super::said;
    use super::*;

    #[test]
    fn the_section_must_be_there() {
        for (files, count) in [
            (&[][..], 1),
            (&[(PATH, "# Changelog\n\n## 1.0\n")], 1),
            (&[(PATH, "# Changelog\n\n## Unreleased\n\n- x\n")], 0),
        ] {
            assert_eq!(said(check, files).len(), count, "{files:?}");
        }
    }
}

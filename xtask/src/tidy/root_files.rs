//! Files in the root of the repository are listed, so that a file of a manual experiment is not committed.

use super::Violation;
use super::tree::Tree;

const RULE: &str = "root_files";

/// Files of the root without those that begin with a dot.
const FILES: [&str; 12] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "GLOSSARY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
];

/// Finds files in the root that are not listed.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let paths = tree.files().map(|(path, _)| path);
    let root = paths.filter(|path| !path.contains('/') && !path.starts_with('.'));
    let other = root.filter(|path| !FILES.contains(path));
    let message = "not a file of the root: remove it, or list it in this rule";
    other
        .map(|path| Violation::new(path, 1, RULE, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn unlisted_files_of_the_root_are_found() {
        let files = [("README.md", ""), ("a.txt", "x\n"), ("docs/a.txt", "x\n")];
        let report = run_rule(check, &files);
        assert_eq!(report.len(), 1, "{report:?}");
        assert!(report[0].starts_with("a.txt:1: root_files:"), "{report:?}");
    }
}

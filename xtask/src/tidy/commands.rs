//! Every command is promised in the contract and shown in the guide.

use super::Violation;
use super::tree::{Tree, is_test};

const RULE: &str = "commands";

/// One file here is one command.
const FOLDER: &str = "crates/heirloom/src/commands/";

const CONTRACT: &str = "docs/contract.md";

/// Finds commands that the contract, or both the guide and the README, do not mention.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let contract = tree.get(CONTRACT).unwrap_or_default();
    let shown: Vec<&str> = tree
        .files()
        .filter(|(path, _)| is_guide(path))
        .map(|(_, text)| text)
        .collect();
    let mut found = Vec::new();
    for (path, _) in tree.with_extension("rs") {
        let Some(name) = command(path) else {
            continue;
        };
        if !mentions(contract, &name) {
            let wrong = format!("`heirloom {name}` is not in {CONTRACT}: write its promise there");
            found.push(Violation::new(path, 1, RULE, wrong));
        }
        if !shown.iter().any(|text| mentions(text, &name)) {
            let wrong = format!(
                "`heirloom {name}` is neither in docs/guide, docs/fleet.md nor README.md: show it"
            );
            found.push(Violation::new(path, 1, RULE, wrong));
        }
    }
    found
}

fn is_guide(path: &str) -> bool {
    path == "README.md"
        || path == "docs/guide.md"
        || path == "docs/fleet.md"
        || (path.starts_with("docs/guide/") && path.ends_with(".md"))
}

/// The command that a file holds: its stem, with dashes. Files in deeper folders are parts.
fn command(path: &str) -> Option<String> {
    let stem = path.strip_prefix(FOLDER)?.strip_suffix(".rs")?;
    (!stem.contains('/') && !is_test(path)).then(|| stem.replace('_', "-"))
}

/// True if the text contains `heirloom <name>` as whole words.
fn mentions(text: &str, name: &str) -> bool {
    let needle = format!("heirloom {name}");
    text.match_indices(&needle).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + needle.len()..)
            .and_then(|text| text.chars().next());
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
        !joins(before) && !joins(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    const FILE: &str = "crates/heirloom/src/commands/dry_run.rs";

    #[test]
    fn command_missing_in_contract_or_guide_is_violation() {
        let promised = (CONTRACT, "## `heirloom dry-run`");
        let shown = ("docs/guide/start.md", "Type `heirloom dry-run`.");
        let readme = ("README.md", "$ heirloom dry-run\n");
        for (files, count) in [
            (vec![(FILE, "")], 2),
            (vec![(FILE, ""), promised], 1),
            (vec![(FILE, ""), shown], 1),
            (vec![(FILE, ""), promised, shown], 0),
            (vec![(FILE, ""), promised, readme], 0),
        ] {
            let report = run_rule(check, &files);
            assert_eq!(report.len(), count, "{report:?}");
        }
    }

    #[test]
    fn command_name_matches_whole_words_only() {
        for (text, expected) in [
            ("heirloom run", true),
            ("`heirloom run --json`", true),
            ("heirloom runs", false),
            ("heirloom run-all", false),
            ("my-heirloom run", false),
        ] {
            assert_eq!(mentions(text, "run"), expected, "{text}");
        }
    }

    #[test]
    fn submodules_and_tests_are_not_commands() {
        for path in [
            "crates/heirloom/src/commands/task/add.rs",
            "crates/heirloom/src/commands/tests.rs",
            "crates/heirloom/src/store_access.rs",
        ] {
            assert_eq!(command(path), None, "{path}");
        }
    }
}

//! Names and paths of build machines must not appear in the repository.

use super::Violation;
use super::tree::Tree;

const RULE: &str = "leaks";

/// Forbidden texts. Each is written in two pieces, so that this file does not contain it.
const NEEDLES: [(&str, &str); 8] = [
    (concat!("/wo", "rk/"), PLACE),
    (concat!("/ro", "ot/"), PLACE),
    (concat!("../sha", "red"), PLACE),
    (concat!("registry.npm", "js"), HOST),
    (concat!("files.python", "hosted"), HOST),
    (concat!("index.crates", ".io"), HOST),
    (concat!("static.crates", ".io"), HOST),
    (concat!("deb.deb", "ian.org"), HOST),
];

const PLACE: &str = "a place on one machine: use a path from the root of the repository";
const HOST: &str = "a registry's host: let its client find it";

/// Finds needles in every file, at most one per line.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.files() {
        for (at, line) in text.lines().enumerate() {
            let leak = NEEDLES.iter().find(|(needle, _)| leaks(line, needle));
            if let Some((needle, what)) = leak {
                let wrong = format!("`{needle}` is {what}");
                found.push(Violation::new(path, at + 1, RULE, wrong));
            }
        }
    }
    found
}

/// True if the line contains the needle; a path only at its beginning: `/home/me` + a needle is
/// another path, and `{root}` + a needle is a template.
fn leaks(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let before = line.get(..at).and_then(|line| line.chars().next_back());
        let inner = |c: char| c.is_alphanumeric() || "_-.~})]>*".contains(c);
        !needle.starts_with('/') || !before.is_some_and(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn every_forbidden_text_is_found() {
        for (needle, _) in NEEDLES {
            let text = format!("fine\nsee {needle}x\n");
            let report = run_rule(check, &[("a.txt", &text)]);
            assert_eq!(report.len(), 1, "{needle}");
            assert!(report[0].starts_with("a.txt:2: leaks:"), "{report:?}");
        }
    }

    #[test]
    fn other_paths_are_allowed() {
        let place = NEEDLES[0].0;
        for text in [
            format!("/home/me{place}a"),
            format!("{{root}}{place}a"),
            "a /workspace/ and a shared/ folder".to_owned(),
        ] {
            assert!(run_rule(check, &[("a.txt", &text)]).is_empty(), "{text}");
        }
        let url = format!("file://{place}a");
        assert_eq!(run_rule(check, &[("a.txt", &url)]).len(), 1);
    }
}

//! Links in pages lead somewhere.

use super::Violation;
use super::markdown::{anchors, links};
use super::tree::Tree;

const RULE: &str = "links";

/// Finds relative links whose file or anchor does not exist. Other sites are not asked.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("md") {
        for link in links(text) {
            if let Some(wrong) = broken(tree, path, &link.target) {
                found.push(Violation::new(path, link.line, RULE, wrong));
            }
        }
    }
    found
}

/// Returns the violation of a link on a page.
fn broken(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if has_scheme(target) {
        return None;
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let path = if file.is_empty() {
        from.to_owned()
    } else {
        let Some(path) = resolve(from, &file.replace("%20", " ")) else {
            return Some(format!(
                "`{target}` leaves the repository: link to a page in it, or to a site"
            ));
        };
        path
    };
    if !tree.has(&path) {
        return Some(format!("`{target}`: no file `{path}`: correct the link"));
    }
    let page = tree.get(&path).filter(|_| path.ends_with(".md"));
    match (page, anchor) {
        (Some(page), Some(anchor)) if !anchors(page).iter().any(|known| known == anchor) => Some(
            format!("`{target}`: `{path}` has no heading `#{anchor}`: correct the anchor"),
        ),
        _ => None,
    }
}

/// True if the target starts with a scheme, such as `https:`.
fn has_scheme(target: &str) -> bool {
    target.starts_with("//")
        || target.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
}

/// The path from the root that a link from a page means; `None` when it is outside.
fn resolve(from: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = match file.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from
            .rsplit_once('/')
            .map_or_else(Vec::new, |(folder, _)| folder.split('/').collect()),
    };
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn link_without_target_is_violation() {
        for (link, works) in [
            ("contract.md", true),
            ("./contract.md#exit-codes", true),
            ("#this-page", true),
            ("../README.md", true),
            ("/docs/contract.md", true),
            ("../crates/a", true),
            ("../crates/a/", true),
            ("../crates/a/lib.rs#L10", true),
            ("https://example.org/x.md#y", true),
            ("mailto:a@example.org", true),
            ("missing.md", false),
            ("contract.md#exit-code", false),
            ("#that-page", false),
            ("../../outside.md", false),
            ("../crates/b", false),
        ] {
            let page = format!("# This page\n[x]({link})\n");
            let report = run_rule(
                check,
                &[
                    ("docs/guide.md", &page),
                    ("docs/contract.md", "## Exit codes\n"),
                    ("README.md", ""),
                    ("crates/a/lib.rs", ""),
                ],
            );
            assert_eq!(report.is_empty(), works, "{link}: {report:?}");
        }
    }

    #[test]
    fn links_in_fixtures_are_ignored() {
        assert!(run_rule(check, &[("tests/fixtures/a.md", "[x](gone.md)")]).is_empty());
    }
}

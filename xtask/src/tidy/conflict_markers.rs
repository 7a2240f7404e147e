//! Markers of an unresolved merge conflict must not appear in the repository.

use super::Violation;
use super::tree::Tree;

const RULE: &str = "conflict_markers";

/// Number of equal characters at the beginning of a marker.
const MARKER_CHARS: usize = 7;

/// Finds the markers that begin and end a conflict. The line between both sides is not searched for, because it is also
/// a heading in some formats.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let markers = ["<", ">"].map(|character| format!("{} ", character.repeat(MARKER_CHARS)));
    let mut found = Vec::new();
    for (path, text) in tree.files() {
        for (at, line) in text.lines().enumerate() {
            if markers.iter().any(|marker| line.starts_with(marker)) {
                let message = "a marker of a merge conflict: merge both sides";
                found.push(Violation::new(path, at + 1, RULE, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn both_ends_of_a_conflict_are_found() {
        let [begin, end] = ["<", ">"].map(|character| character.repeat(MARKER_CHARS));
        let text = format!("{begin} HEAD\na\n=======\nb\n{end} branch\n");
        let report = run_rule(check, &[("a.txt", &text)]);
        assert_eq!(report.len(), 2, "{report:?}");
        assert!(
            report[0].starts_with("a.txt:1: conflict_markers:"),
            "{report:?}"
        );
    }

    #[test]
    fn headings_and_quoted_markers_are_allowed() {
        let quoted = format!("Heading\n=======\n  {} HEAD\n", "<".repeat(MARKER_CHARS));
        assert!(run_rule(check, &[("a.md", &quoted)]).is_empty());
    }
}

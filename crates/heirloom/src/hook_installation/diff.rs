//! Unified diff of a settings file.

use similar::TextDiff;

/// Returns a unified diff from `before` to `after`; empty if they are equal.
pub(crate) fn diff(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    TextDiff::from_lines(before, after)
        .unified_diff()
        .missing_newline_hint(false)
        .header(name, name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diff_shows_changes_with_context() {
        let before: String = (0..20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("10\n", "10\nnew\n").replace("2\n", "two\n");
        let output = diff("f", &before, &after);
        assert!(
            output.contains("@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n"),
            "{output}"
        );
        assert!(output.contains(" 10\n+new\n"), "{output}");
        assert!(!output.contains(" 17\n"), "{output}");
        assert_eq!(diff("f", &before, &before), "");
        assert_eq!(diff("f", "", "a\n"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
    }
}

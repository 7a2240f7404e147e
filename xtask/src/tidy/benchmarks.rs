//! The tables of docs/benchmarks.md are those that the results render.

use super::Violation;
use super::tree::Tree;
use crate::bench::document::{DOCUMENT, RESULTS, Results};

const RULE: &str = "benchmarks";

/// Compares the document with its rendering.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let Some(document) = tree.get(DOCUMENT) else {
        return Vec::new();
    };
    let files = tree.files().filter(|(path, _)| path.starts_with(RESULTS));
    let filled = Results::parse(files).and_then(|results| results.fill(document));
    let message = match filled {
        Ok(filled) if filled == document => return Vec::new(),
        Ok(_) => "a table differs from bench/results: run `cargo xtask bench --table`".to_owned(),
        Err(error) => error,
    };
    vec![Violation::new(DOCUMENT, 1, RULE, message)]
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    const FILE: &str = "bench/results/size.json";

    #[test]
    fn table_that_differs_from_results_is_violation() {
        let results =
            r#"{"group": "size", "tables": [{"id": "t", "columns": ["a"], "rows": [["1"]]}]}"#;
        let rendered = "<!-- bench: t -->\n\n| a |\n|---|\n| 1 |\n\n<!-- end -->\n";
        assert!(run_rule(check, &[(DOCUMENT, rendered), (FILE, results)]).is_empty());
        let edited = rendered.replace("| 1 |", "| 2 |");
        let report = run_rule(check, &[(DOCUMENT, &edited), (FILE, results)]);
        assert!(report[0].contains("bench --table"), "{report:?}");
    }

    #[test]
    fn results_that_cannot_be_rendered_are_violations() {
        for (document, results) in [
            ("<!-- bench: t -->\n<!-- end -->", r#"{"group": "size"}"#),
            ("", "no JSON"),
            ("", r#"{"group": "other"}"#),
            ("", r#"{"group": "size", "metrics": [{"id": "size.gone"}]}"#),
        ] {
            let report = run_rule(check, &[(DOCUMENT, document), (FILE, results)]);
            assert_eq!(report.len(), 1, "{document} {results}");
        }
        assert!(run_rule(check, &[]).is_empty());
    }
}

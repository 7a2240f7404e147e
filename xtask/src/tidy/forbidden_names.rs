//! Every module has a true name.

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{ident, inside, lex, line};
use super::tree::{Tree, is_fixture};

const RULE: &str = "names";

/// Names without meaning, such as `utils`: their content belongs to a named subject.
const EMPTY_NAMES: [&str; 5] = ["utils", "util", "common", "helpers", "misc"];

/// Finds `mod.rs` and files, folders and inline modules with empty names.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| !is_fixture(path)) {
        let file = path.rsplit('/').next().unwrap_or(path);
        if file == "mod.rs" {
            found.push(Violation::new(
                path,
                1,
                RULE,
                "a `mod.rs`: use `foo.rs` next to `foo/`",
            ));
        }
        for part in path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            if EMPTY_NAMES.contains(&stem) {
                found.push(empty_name(path, 1, stem));
            }
        }
        if path.ends_with(".rs")
            && let Ok(tokens) = lex(text)
        {
            modules(path, &tokens, &mut found);
        }
    }
    found
}

fn modules(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            modules(path, &inside(group), found);
        }
        if ident(Some(token)).as_deref() == Some("mod")
            && let Some(name) = ident(tokens.get(at + 1))
            && EMPTY_NAMES.contains(&name.as_str())
        {
            found.push(empty_name(path, line(token), &name));
        }
    }
}

fn empty_name(path: &str, line: usize, name: &str) -> Violation {
    Violation::new(
        path,
        line,
        RULE,
        format!(
            "`{name}` has no meaning: name it after its content, or move the content to a named module"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn meaningless_names_of_files_folders_and_modules_are_violations() {
        for (path, text, count) in [
            ("src/mod.rs", "", 1),
            ("src/utils.rs", "", 1),
            ("src/common/a.rs", "", 1),
            ("docs/misc.md", "", 1),
            ("src/a.rs", "mod b { pub mod helpers {} }", 1),
            ("src/lib.rs", "mod util;", 1),
            ("src/utility.rs", "mod commons; fn helpers() {}", 0),
            (
                "src/a.rs",
                "// mod utils;\nconst A: &str = \"mod misc\";",
                0,
            ),
            ("tests/fixtures/utils.py", "", 0),
        ] {
            let report = run_rule(check, &[(path, text)]);
            assert_eq!(report.len(), count, "{path}: {report:?}");
        }
    }

    #[test]
    fn violation_of_module_has_its_line() {
        let report = run_rule(check, &[("a.rs", "\n\nmod util;")]);
        assert!(report[0].starts_with("a.rs:3: names: `util`"), "{report:?}");
    }
}

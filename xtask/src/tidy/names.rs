//! Every module has a true name.

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{ident, inside, lex, line};
use super::tree::{Tree, is_fixture};

const RULE: &str = "names";

/// Names that say nothing: whatever lands there belongs to something that has a name.
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
                "a `mod.rs`: use `foo.rs` beside `foo/`",
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
        format!("`{name}` says nothing: name it after what it holds, or move that to its noun"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    #[test]
    fn empty_names_are_found_in_files_folders_and_modules() {
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
            let said = said(check, &[(path, text)]);
            assert_eq!(said.len(), count, "{path}: {said:?}");
        }
    }

    #[test]
    fn the_line_of_a_module_is_named() {
        let said = said(check, &[("a.rs", "\n\nmod util;")]);
        assert!(said[0].starts_with("a.rs:3: names: `util`"), "{said:?}");
    }
}

//! Type names: a name is not the name of many types.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::tree::{Tree, is_test};

/// Modules that may define a type of the same name.
pub(super) const MODULES_MAX: usize = 3;

/// Conventional names of a module's main types.
const EXEMPT: [&str; 3] = ["Args", "State", "Error"];

/// Returns each type name that more than [`MODULES_MAX`] modules define, with their files.
pub(super) fn crowded(tree: &Tree) -> BTreeMap<String, Vec<String>> {
    let mut modules: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in tree.with_extension("rs") {
        if !path.contains("src/") || is_test(path) {
            continue;
        }
        for name in text.lines().filter_map(type_name) {
            modules.entry(name.to_owned()).or_default().insert(path);
        }
    }
    let crowded = modules
        .into_iter()
        .filter(|(name, files)| files.len() > MODULES_MAX && !EXEMPT.contains(&name.as_str()));
    crowded
        .map(|(name, files)| (name, files.into_iter().map(str::to_owned).collect()))
        .collect()
}

/// The name that a line defines. An indented `type` is an associated type, which a trait names.
fn type_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let is_indented = rest.len() < line.len();
    if let Some(visible) = rest.strip_prefix("pub") {
        rest = match visible.trim_start().strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => visible,
        };
    }
    let (keyword, name) = rest.trim_start().split_once(' ')?;
    let is_type =
        matches!(keyword, "struct" | "enum" | "trait") || keyword == "type" && !is_indented;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = name.get(..end.unwrap_or(name.len()))?;
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_definitions_are_found() {
        for (line, expected) in [
            ("struct Kept;", Some("Kept")),
            ("    pub(super) enum Kept<'a> {", Some("Kept")),
            ("pub trait Kept: Copy {", Some("Kept")),
            ("pub(in crate::a) type Kept = u8;", Some("Kept")),
            ("    type Err = Kept;", None),
            ("// struct of Kept", None),
            ("structure Kept", None),
            ("public struct", None),
        ] {
            assert_eq!(type_name(line), expected, "{line}");
        }
    }

    #[test]
    fn name_in_four_modules_is_violation_unless_exempt() {
        let text = "struct Kept;\nstruct Args;\nstruct One;";
        let files = [
            ("a/src/a.rs", text),
            ("a/src/b.rs", text),
            ("a/src/c.rs", text),
            ("a/src/d.rs", "struct Kept;\nstruct Kept;\nstruct Args;"),
            ("a/src/d/tests.rs", text),
            ("a/tests/e.rs", text),
        ];
        let crowded = crowded(&Tree::of(&files));
        assert_eq!(crowded.keys().collect::<Vec<_>>(), ["Kept"]);
        assert_eq!(crowded["Kept"].len(), 4);
        assert!(super::crowded(&Tree::of(&files[..3])).is_empty());
    }
}

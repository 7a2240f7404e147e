//! Names in stored forms are written out, so that renaming a field or a variant in Rust does not rename it on the disk.

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::{Tree, is_test};

const RULE: &str = "stored_forms";

/// Crates whose serialised types are stored or are read by other processes.
const CRATES: [&str; 4] = [
    "crates/model/src/",
    "crates/store/src/",
    "crates/engine/src/",
    "crates/window/src/",
];

/// Arguments of `serde` that fix a name or leave it out.
const FIXED: [&str; 3] = ["rename", "skip", "flatten"];

/// Finds fields and variants of `Serialize` types without a fixed name.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if CRATES.iter().any(|folder| path.starts_with(folder)) && !is_test(path) {
            // Another rule reports a file that does not lex.
            types(path, &lex(text).unwrap_or_default(), &mut found);
        }
    }
    found
}

/// Attributes of the item that comes next.
#[derive(Default)]
struct Attributes {
    is_serialized: bool,
    is_untagged: bool,
    is_fixed: bool,
}

impl Attributes {
    /// Reads the content of one attribute, `derive(…)` or `serde(…)`.
    fn read(&mut self, content: &[TokenTree]) {
        let name = ident(content.first()).unwrap_or_default();
        let Some(TokenTree::Group(arguments)) = content.get(1) else {
            return;
        };
        let words: Vec<_> = inside(arguments)
            .iter()
            .filter_map(|token| ident(Some(token)))
            .collect();
        let has = |word: &str| words.iter().any(|found| found == word);
        match name.as_str() {
            "derive" => self.is_serialized |= has("Serialize"),
            "serde" => {
                self.is_untagged |= has("untagged");
                self.is_fixed |= FIXED.into_iter().any(has);
            }
            _ => {}
        }
    }
}

/// Finds types in items, also in the bodies of functions and modules.
fn types(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    let mut attributes = Attributes::default();
    let mut keyword = None;
    for (at, token) in tokens.iter().enumerate() {
        if let Some(content) = attribute(tokens, at) {
            attributes.read(&content);
            continue;
        }
        match ident(Some(token)).as_deref() {
            Some("struct") => keyword = Some("struct"),
            Some("enum") => keyword = Some("enum"),
            _ => {}
        }
        if let Some(body) = braces(Some(token)) {
            let body = inside(body);
            match keyword.take() {
                Some("enum") if attributes.is_serialized => {
                    members(path, &body, !attributes.is_untagged, found);
                    // The fields of a variant are members as well.
                    for token in &body {
                        if let Some(fields) = braces(Some(token)) {
                            members(path, &inside(fields), true, found);
                        }
                    }
                }
                Some(_) if attributes.is_serialized => members(path, &body, true, found),
                Some(_) => {}
                None => types(path, &body, found),
            }
            attributes = Attributes::default();
        } else if is_punct(Some(token), ';') {
            attributes = Attributes::default();
            keyword = None;
        }
    }
}

/// The content of the attribute whose brackets are at `at`.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<Vec<TokenTree>> {
    let is_hash = at > 0 && is_punct(tokens.get(at - 1), '#');
    match tokens.get(at) {
        Some(TokenTree::Group(group)) if is_hash => Some(inside(group)),
        _ => None,
    }
}

/// Checks the fields or variants of one type: each begins after a comma, with its attributes.
fn members(path: &str, tokens: &[TokenTree], must_be_fixed: bool, found: &mut Vec<Violation>) {
    let mut attributes = Attributes::default();
    let mut is_named = false;
    let mut angles = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if let Some(content) = attribute(tokens, at) {
            attributes.read(&content);
        } else if is_punct(Some(token), '<') {
            angles += 1;
        } else if is_punct(Some(token), '>') {
            angles = angles.saturating_sub(1);
        } else if is_punct(Some(token), ',') && angles == 0 {
            attributes = Attributes::default();
            is_named = false;
        } else if let Some(name) = ident(Some(token)).filter(|name| name != "pub" && !is_named) {
            is_named = true;
            if must_be_fixed && !attributes.is_fixed {
                let wrong = format!(
                    "`{name}` is stored under its Rust name: add `#[serde(rename = \"…\")]` with that name, and \
                     the field to the golden file of the type"
                );
                found.push(Violation::new(path, line(token), RULE, wrong));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let report = run_rule(check, &[("crates/engine/src/a.rs", text)]);
        let name = |line: &String| line.split('`').nth(1).map(str::to_owned);
        report.iter().filter_map(name).collect()
    }

    #[test]
    fn field_without_serde_rename_is_violation() {
        for (text, expected) in [
            (
                "#[derive(Serialize)] struct A { a: u8, pub(super) b: Map<u8, u8>, c: u8 }",
                &["a", "b", "c"][..],
            ),
            (
                "#[derive(Serialize)] struct A { #[serde(rename = \"a\")] a: u8, /** x */ b: u8 }",
                &["b"],
            ),
            (
                "#[derive(Serialize)] struct A { #[serde(default, rename = \"type\")] a: u8 }",
                &[],
            ),
            (
                "#[derive(Serialize)] struct A { #[serde(skip)] a: u8, #[serde(flatten)] b: B }",
                &[],
            ),
            (
                "#[derive(Serialize)] struct A { #[serde(skip_serializing_if = \"x\")] a: u8 }",
                &["a"],
            ),
            ("#[derive(Debug)] struct A { a: u8 }", &[]),
            ("#[derive(Deserialize)] struct A { a: u8 }", &[]),
            ("#[derive(Serialize)] struct A(u8); struct B { b: u8 }", &[]),
            (
                "fn f() { #[derive(Debug, Serialize)] struct A { a: u8 } }",
                &["a"],
            ),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn variant_without_serde_rename_is_violation() {
        for (text, expected) in [
            (
                "#[derive(Serialize)] #[serde(rename_all = \"lowercase\")] enum A { B, C }",
                &["B", "C"][..],
            ),
            (
                "#[derive(Serialize)] enum A { #[serde(rename = \"b\")] B, #[serde(rename = \"c\")] C { d: u8 } }",
                &["d"],
            ),
            (
                "#[derive(Serialize)] #[serde(untagged)] enum A { B { c: u8 }, D(E) }",
                &["c"],
            ),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn other_crates_and_tests_are_ignored() {
        let text = "#[derive(Serialize)] struct A { a: u8 }";
        for path in ["crates/server/src/a.rs", "crates/engine/src/a/tests.rs"] {
            assert!(run_rule(check, &[(path, text)]).is_empty(), "{path}");
        }
    }
}

//! Limits are declared in one folder, and a test names each of them.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenTree};

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::{Tree, is_test};

const RULE: &str = "limits";

/// Folder of the files that declare limits.
const FOLDER: &str = "crates/model/src/limits/";

/// Crates that are no part of the product.
const EXEMPT: [&str; 1] = ["crates/testkit/"];

/// Tests in product code, because each implementation of the store must pass them.
const CONFORMANCE: &str = "crates/store/src/conformance/";

/// Finds limits that no test names, and visible limits outside the folder.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut tested = BTreeSet::new();
    let mut declared = Vec::new();
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        // Another rule reports a file that cannot be parsed.
        let tokens = lex(text).unwrap_or_default();
        names_in_tests(&tokens, is_a_test(path), &mut tested);
        let is_product = path.starts_with("crates/") && path.contains("/src/");
        if path.starts_with(FOLDER) {
            let constants = visible_constants(&tokens);
            declared.extend(constants.into_iter().map(|(name, line)| (path, name, line)));
        } else if is_product && !EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
            elsewhere(path, &tokens, &mut found);
        }
    }
    if declared.is_empty() {
        let wrong = "no limit is declared in this folder";
        found.push(Violation::new(FOLDER, 1, RULE, wrong));
    }
    for (path, name, line) in declared {
        if !tested.contains(&name) {
            let wrong = format!("no test names `{name}`: write one that hits it, and one beyond");
            found.push(Violation::new(path, line, RULE, wrong));
        }
    }
    found
}

fn is_a_test(path: &str) -> bool {
    is_test(path) || path.starts_with(CONFORMANCE)
}

/// Finds limits that other modules can see; private constants may be anywhere.
fn elsewhere(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    for (name, line) in visible_constants(tokens) {
        if name.ends_with("_MAX") {
            let wrong = format!("`{name}` is a cap: declare it in a file of {FOLDER}");
            found.push(Violation::new(path, line, RULE, wrong));
        }
    }
    for token in tokens {
        if let Some(group) = braces(Some(token)) {
            elsewhere(path, &inside(group), found);
        }
    }
}

/// Returns the name and line of each `pub const` and `pub(crate) const` of this level.
fn visible_constants(tokens: &[TokenTree]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if ident(Some(token)).as_deref() != Some("pub") {
            continue;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let rest = match rest.first() {
            Some(TokenTree::Group(_)) => rest.get(1..).unwrap_or_default(),
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => rest,
        };
        if ident(rest.first()).as_deref() == Some("const")
            && let Some(name) = ident(rest.get(1))
        {
            found.push((name, line(token)));
        }
    }
    found
}

/// Collects all identifiers in tests.
fn names_in_tests(tokens: &[TokenTree], in_test: bool, names: &mut BTreeSet<String>) {
    // True after `#[cfg(test)]` until the end of its item.
    let mut test_item = false;
    for (at, token) in tokens.iter().enumerate() {
        let here = in_test || test_item;
        match token {
            TokenTree::Ident(name) if here => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => {
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                if is_punct(before, '#') && group.delimiter() == Delimiter::Bracket {
                    test_item |= is_cfg_test(&inside(group));
                } else {
                    names_in_tests(&inside(group), here, names);
                    test_item &= group.delimiter() != Delimiter::Brace;
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => test_item = false,
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// True if an attribute is `cfg(test)`.
fn is_cfg_test(attribute: &[TokenTree]) -> bool {
    let words: Vec<String> = attribute.iter().map(ToString::to_string).collect();
    words == ["cfg", "(test)"]
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    const PATH: &str = "crates/model/src/limits/records.rs";
    const LIMITS: (&str, &str) = (PATH, "/// A.\npub const A_MAX: usize = 1;\n");

    fn check_with(path: &str, text: &str) -> Vec<String> {
        run_rule(check, &[LIMITS, (path, text)])
    }

    #[test]
    fn limit_without_test_is_violation() {
        let named = "fn f() { assert_eq!(limits::A_MAX, 1) }";
        let module = format!("#[cfg(test)]\n#[expect(x)]\nmod tests {{ {named} }}");
        for (path, text) in [
            ("crates/a/tests/a.rs", named),
            ("crates/store/src/conformance/caps.rs", named),
            ("crates/a/src/a.rs", &module),
            ("crates/a/src/a.rs", "#[cfg(test)] use x::A_MAX;"),
        ] {
            assert!(check_with(path, text).is_empty(), "{path}");
        }
        let before = format!("#[cfg(test)] mod tests;\n{named}");
        let after = format!("#[cfg(test)] mod tests {{}}\n{named}");
        for (path, text) in [
            ("crates/a/src/a.rs", named),
            ("crates/a/src/a.rs", &before),
            ("crates/a/src/a.rs", &after),
            ("crates/a/tests/a.rs", "// A_MAX\nfn f() { \"A_MAX\"; }"),
        ] {
            let report = check_with(path, text);
            assert!(
                report[0].starts_with(&format!("{PATH}:2: limits: no test names `A_MAX`")),
                "{report:?}"
            );
        }
        assert_eq!(run_rule(check, &[]).len(), 1);
    }

    #[test]
    fn public_limit_outside_limits_folder_is_violation() {
        let seen = |path: &str, text: &str| {
            let text = format!("{text}\n#[cfg(test)] use A_MAX;");
            check_with(path, &text)
        };
        for bad in [
            "pub const B_MAX: usize = 1;",
            "pub(crate) const B_MAX: u8 = 1;",
            "mod m { pub(super) const B_MAX: u8 = 1; }",
        ] {
            let report = seen("crates/a/src/a.rs", bad);
            assert!(report[0].contains("`B_MAX` is a cap"), "{bad}: {report:?}");
            assert!(seen("crates/testkit/src/a.rs", bad).is_empty());
            assert!(seen("xtask/src/a.rs", bad).is_empty());
        }
        for fine in [
            "const B_MAX: usize = 1;",
            "pub const MAX: u8 = 1;",
            "pub fn b_max() {}",
        ] {
            assert!(seen("crates/a/src/a.rs", fine).is_empty(), "{fine}");
        }
    }
}

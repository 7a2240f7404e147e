//! Every operation of the engine runs over a store that fails.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, lex, line};
use super::tree::{Tree, is_test};

const RULE: &str = "operations";

/// The engine's own files.
const FOLDER: &str = "crates/engine/src/engine";

/// Where each operation has its row.
const TABLE: &str = "crates/engine/tests/faults/table.rs";
/// Where those of hooks have theirs.
const HOOKS: &str = "crates/engine/tests/faults/hooks.rs";
/// Where those of servers have theirs.
const SERVED: &str = "crates/engine/tests/faults/served.rs";
/// Where those of agents that are served have theirs.
const AGENTS: &str = "crates/engine/tests/faults/agents.rs";

/// What calls no store: it asks for a path, prepares a change, or works on files alone.
const WITHOUT_STORE: [&str; 8] = [
    "change_of",
    "keep_working",
    "mirror_at",
    "mirror_path",
    "remove_copies",
    "serve_at",
    "served_at",
    "take_working",
];

/// Finds public functions of `Engine` that can fail and that the fault table does not call.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut called = BTreeSet::new();
    for table in [TABLE, HOOKS, SERVED, AGENTS]
        .into_iter()
        .filter_map(|table| tree.get(table))
    {
        words(&lex(table).unwrap_or_default(), &mut called);
    }
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if !path.starts_with(FOLDER) || is_test(path) {
            continue;
        }
        // What does not lex is said by another rule.
        for (name, line) in operations(&lex(text).unwrap_or_default()) {
            if !called.contains(&name) && !WITHOUT_STORE.contains(&name.as_str()) {
                let wrong =
                    format!("`Engine::{name}` has no row in {TABLE}: let each call of it fail");
                found.push(Violation::new(path, line, RULE, wrong));
            }
        }
    }
    found
}

/// The public functions in `impl Engine` that return a `Fault` when they fail.
fn operations(tokens: &[TokenTree]) -> Vec<(String, usize)> {
    let is = |at: usize, word: &str| ident(tokens.get(at)).as_deref() == Some(word);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if is(at, "impl") && is(at + 1, "Engine") {
            let body = tokens.get(at + 2).and_then(|token| braces(Some(token)));
            found.extend(body.map(|body| fallible(&inside(body))).unwrap_or_default());
        }
    }
    found
}

fn fallible(body: &[TokenTree]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate() {
        let is_public = ident(Some(token)).as_deref() == Some("pub")
            && ident(body.get(at + 1)).as_deref() == Some("fn");
        let (true, Some(name)) = (is_public, ident(body.get(at + 2))) else {
            continue;
        };
        let rest = body.get(at + 3..).unwrap_or_default();
        let is_body = |token: &TokenTree| braces(Some(token)).is_some();
        let mut signature = rest.iter().take_while(|token| !is_body(token));
        if signature.any(|token| ident(Some(token)).as_deref() == Some("Fault")) && takes_self(rest)
        {
            found.push((name, line(token)));
        }
    }
    found
}

/// Whether the first group of tokens, the arguments, has `self` in it.
fn takes_self(signature: &[TokenTree]) -> bool {
    let mut groups = signature.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(inside(group)),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    });
    let arguments = groups.next().unwrap_or_default();
    (arguments.iter()).any(|token| ident(Some(token)).as_deref() == Some("self"))
}

fn words(tokens: &[TokenTree], into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                into.insert(word.to_string());
            }
            TokenTree::Group(group) => words(&inside(group), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::*;

    fn with(engine: &str) -> Vec<String> {
        let table = "fn t() { row(\"a\", |w| w.engine.keep(1)) }";
        said(
            check,
            &[(TABLE, table), ("crates/engine/src/engine/a.rs", engine)],
        )
    }

    #[test]
    fn an_operation_without_a_row_is_told() {
        let wrong =
            with("impl Engine {\n    pub fn lose(&self, n: u8) -> Result<(), Fault> { x }\n}");
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("a.rs:2: operations: `Engine::lose` has no row"));
        for fine in [
            "impl Engine { pub fn keep(&self) -> Result<u8, Fault> { x } }",
            "impl Engine { pub(crate) fn lose(&self) -> Result<u8, Fault> { x } }",
            "impl Engine { pub fn lose(&self) -> u8 { Fault } }",
            "impl Engine { pub fn lose(a: Store) -> Result<u8, Fault> { x } }",
            "impl Observer<'_> { pub fn lose(&self) -> Result<u8, Fault> { x } }",
            "impl Engine { pub fn mirror_path(&self) -> Result<u8, Fault> { x } }",
        ] {
            assert!(with(fine).is_empty(), "{fine}");
        }
    }
}

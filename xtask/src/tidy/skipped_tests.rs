//! Tests do not end early: a missing program or right fails them.

use proc_macro2::{Group, TokenTree};

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::Tree;

const RULE: &str = "skipped_tests";

/// Finds `return;` in test functions, also inside blocks and closures. Ignored tests may end early.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        // A file that does not lex is reported by the rule `functions`.
        visit(path, &lex(text).unwrap_or_default(), &mut found);
    }
    found
}

fn visit(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    let mut attributes = Attributes::default();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_attribute = at > 0 && is_punct(tokens.get(at - 1), '#');
        if is_attribute {
            attributes.add(group);
        } else if braces(Some(token)).is_some() {
            if std::mem::take(&mut attributes).is_required_test() {
                find_returns(path, &inside(group), found);
            } else {
                visit(path, &inside(group), found);
            }
        }
    }
}

/// Attributes of the next item.
#[derive(Default)]
struct Attributes {
    test: bool,
    ignore: bool,
}

impl Attributes {
    fn add(&mut self, attribute: &Group) {
        match ident(inside(attribute).first()).as_deref() {
            Some("test") => self.test = true,
            Some("ignore") => self.ignore = true,
            _ => {}
        }
    }

    fn is_required_test(&self) -> bool {
        self.test && !self.ignore
    }
}

fn find_returns(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            find_returns(path, &inside(group), found);
        }
        let is_return = ident(Some(token)).as_deref() == Some("return");
        if is_return && is_punct(tokens.get(at + 1), ';') {
            found.push(Violation::new(
                path,
                line(token),
                RULE,
                "a test that ends early passes without a check: use `require!` of the testkit, or fail",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    #[test]
    fn early_return_of_test_is_violation() {
        for text in [
            "#[test]\nfn a() { if x {\nreturn; } }",
            "mod tests { #[test] #[cfg(unix)] fn a()\n{ let Some(x) = y else {\nreturn; }; } }",
        ] {
            assert_eq!(
                run_rule(check, &[("a.rs", text)]),
                [
                    "a.rs:3: skipped_tests: a test that ends early passes without a check: \
                  use `require!` of the testkit, or fail"
                ],
                "{text}"
            );
        }
    }

    #[test]
    fn other_functions_may_end_early() {
        for text in [
            "fn a() { if x { return; } }",
            "#[test] fn a() { f(); } fn b() { return; }",
            "#[test] #[ignore = \"a child\"] fn a() { return; }",
            "#[test] fn a() { let f = || { return 1; }; }",
            "#[cfg(test)] mod tests { fn a() { return; } }",
        ] {
            assert_eq!(
                run_rule(check, &[("a.rs", text)]),
                Vec::<String>::new(),
                "{text}"
            );
        }
    }
}

//! Tests do not end early in silence: a missing program or right is reported.

use proc_macro2::{Group, TokenTree};

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::Tree;

const RULE: &str = "skipped_tests";

/// Configuration of nextest, which names the test files whose output is shown.
const NEXTEST: &str = ".config/nextest.toml";

/// Finds `return;` in test functions, also inside blocks and closures, and uses of `require!` whose report nextest
/// hides. Ignored tests may end early.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let shown = tree.get(NEXTEST).unwrap_or_default();
    let shown: Vec<&str> = shown.split(|c: char| !is_word(c)).collect();
    for (path, text) in tree.with_extension("rs") {
        // A file that does not lex is reported by the rule `functions`.
        let tokens = lex(text).unwrap_or_default();
        visit(path, &tokens, &mut found);
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = file.trim_end_matches(".rs");
        // The testkit, whose tests of the macro are children of others, defines it.
        if !shown.contains(&name) && !path.starts_with("crates/testkit/") {
            found.extend(requirement(&tokens).map(|line| {
                let message = format!(
                    "add `{name}` to the filter in {NEXTEST}, which shows the reason of a skip"
                );
                Violation::new(path, line, RULE, message)
            }));
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the line of the first use of `require!`.
fn requirement(tokens: &[TokenTree]) -> Option<usize> {
    tokens.iter().enumerate().find_map(|(at, token)| {
        if let TokenTree::Group(group) = token {
            return requirement(&inside(group));
        }
        let is_macro = is_punct(tokens.get(at + 1), '!');
        (is_macro && ident(Some(token)).as_deref() == Some("require")).then(|| line(token))
    })
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
    fn requirement_whose_report_is_hidden_is_violation() {
        let test = (
            "tests/disk.rs",
            "#[test] fn a() {\nlet x = require!(y, z); }",
        );
        for (filter, is_shown) in [
            ("filter = 'binary(/^(citus|disk)$/)'", true),
            ("filter = 'test(/^full_disk::/)'", false),
        ] {
            let report = run_rule(check, &[test, (NEXTEST, filter)]);
            assert_eq!(report.is_empty(), is_shown, "{report:?}");
        }
        assert_eq!(
            run_rule(check, &[test]),
            [
                "tests/disk.rs:2: skipped_tests: add `disk` to the filter in .config/nextest.toml, which shows the \
                 reason of a skip"
            ]
        );
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

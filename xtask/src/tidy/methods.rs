//! A type has a bounded number of functions, over all of its `impl` blocks.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::{Tree, is_test};

const RULE: &str = "methods";

/// The most functions of a type.
const METHODS_MAX: usize = 40;

/// Functions of a type, and the place of its first `impl`.
#[derive(Default)]
struct Methods {
    count: usize,
    first: Option<(String, usize)>,
}

/// Finds types with more functions than the limit; those of traits do not count.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut types: BTreeMap<(String, String), Methods> = BTreeMap::new();
    for (path, text) in tree.with_extension("rs") {
        let Some(krate) = krate(path).filter(|_| !is_test(path)) else {
            continue;
        };
        // Unlexable text is reported by the rule about functions.
        for (name, count, line) in inherent_impls(&lex(text).unwrap_or_default()) {
            let methods = types.entry((krate.to_owned(), name)).or_default();
            methods.count += count;
            methods.first.get_or_insert_with(|| (path.to_owned(), line));
        }
    }
    let mut found = Vec::new();
    for ((_, name), Methods { count, first }) in types {
        if let (true, Some((path, line))) = (count > METHODS_MAX, first) {
            let wrong = format!(
                "`{name}` has {count} functions, the limit is {METHODS_MAX}: \
                 move a group of them to a type of its own"
            );
            found.push(Violation::new(&path, line, RULE, wrong));
        }
    }
    found
}

/// Returns the name of the product crate that contains a source file.
fn krate(path: &str) -> Option<&str> {
    let (krate, file) = path.strip_prefix("crates/")?.split_once('/')?;
    file.starts_with("src/").then_some(krate)
}

/// Returns the type, number of functions and line of each `impl` without a trait.
fn inherent_impls(tokens: &[TokenTree]) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if ident(Some(token)).as_deref() != Some("impl") {
            continue;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let header = rest
            .iter()
            .take_while(|token| braces(Some(token)).is_none());
        let header: Vec<TokenTree> = header.cloned().collect();
        let is_trait = header
            .iter()
            .any(|token| ident(Some(token)).as_deref() == Some("for"));
        let body = rest.get(header.len()).and_then(|token| braces(Some(token)));
        if let (false, Some(name), Some(body)) = (is_trait, type_name(&header), body) {
            let tokens = inside(body);
            let is_fn = |token: &&TokenTree| ident(Some(token)).as_deref() == Some("fn");
            found.push((name, tokens.iter().filter(is_fn).count(), line(token)));
        }
    }
    found
}

/// Returns the last word of a type's path, after the generic parameters of the `impl`.
fn type_name(header: &[TokenTree]) -> Option<String> {
    let mut depth = 0_usize;
    let mut name = None;
    for (at, token) in header.iter().enumerate() {
        if is_punct(Some(token), '<') {
            depth += 1;
        } else if is_punct(Some(token), '>') {
            depth = depth.saturating_sub(1);
        } else if depth == 0
            && let Some(word) = ident(Some(token))
        {
            if word == "where" {
                break;
            }
            let follows_quote = at
                .checked_sub(1)
                .is_some_and(|before| is_punct(header.get(before), '\''));
            if !follows_quote {
                name = Some(word);
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    fn functions(count: usize) -> String {
        (0..count)
            .map(|n| format!("fn f{n}(&self) {{}} "))
            .collect()
    }

    #[test]
    fn type_over_limit_in_two_files_is_violation() {
        let half = functions(METHODS_MAX / 2);
        let one = format!("impl<'a> Store<'a> {{ {half} }}");
        let other = format!("impl Store<'_> {{ {half} fn last(&self) {{}} }}");
        let run = |other: &str| {
            run_rule(
                check,
                &[
                    ("crates/a/src/one.rs", &one),
                    ("crates/a/src/two.rs", other),
                ],
            )
        };
        let wrong = run(&other);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("`Store` has 41 functions"), "{wrong:?}");
        assert!(run(&format!("impl Store<'_> {{ {half} }}")).is_empty());
    }

    #[test]
    fn functions_of_traits_and_other_crates_do_not_count() {
        let (half, full) = (functions(METHODS_MAX / 2), functions(METHODS_MAX));
        let files = [
            ("crates/a/src/one.rs", format!("impl Store {{ {full} }}")),
            (
                "crates/a/src/two.rs",
                format!("impl Clone for Store {{ {half} }}"),
            ),
            ("crates/b/src/one.rs", format!("impl Store {{ {half} }}")),
            ("crates/a/tests/one.rs", format!("impl Store {{ {half} }}")),
        ];
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        assert!(run_rule(check, &files).is_empty());
    }
}

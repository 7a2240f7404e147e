//! The store stays a narrow waist.

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, lex, line};
use super::tree::Tree;

const RULE: &str = "store-trait";

const PATH: &str = "crates/store/src/store.rs";

/// The most methods of the `Store` trait.
const METHODS_MAX: usize = 27;

/// Counts the methods of `pub trait Store`.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let found = tree.get(PATH).and_then(|text| methods(&lex(text).ok()?));
    let (line, wrong) = match found {
        None => (
            1,
            "no `pub trait Store` here: if it moved, tell xtask/src/tidy/store_trait.rs".to_owned(),
        ),
        Some((line, count)) if count > METHODS_MAX => (
            line,
            format!(
                "{count} methods, the limit is {METHODS_MAX}: every backend, wrapper and test pays for \
                 each; build it from the ones there are"
            ),
        ),
        Some(_) => return Vec::new(),
    };
    vec![Violation::new(PATH, line, RULE, wrong)]
}

/// The line of the trait and the number of its functions.
fn methods(tokens: &[TokenTree]) -> Option<(usize, usize)> {
    let at = tokens.windows(3).position(|window| {
        ident(window.first()).as_deref() == Some("pub")
            && ident(window.get(1)).as_deref() == Some("trait")
            && ident(window.get(2)).as_deref() == Some("Store")
    })?;
    let rest = tokens.get(at..)?;
    let body = rest.iter().find_map(|token| braces(Some(token)))?;
    let body = inside(body);
    let count = body
        .iter()
        .enumerate()
        .filter(|(at, token)| {
            ident(Some(token)).as_deref() == Some("fn") && ident(body.get(at + 1)).is_some()
        })
        .count();
    Some((line(rest.first()?), count))
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    /// Returns a trait with this number of methods, some with bodies that contain functions.
    fn store(count: usize) -> String {
        let methods: String = (0..count)
            .map(|n| {
                if n % 2 == 0 {
                    format!("    /// The fn.\n    fn m{n}(&self, f: fn(u8));\n")
                } else {
                    format!("    fn m{n}(&self) {{ fn inner() {{}} }}\n")
                }
            })
            .collect();
        format!("//! Store.\npub trait Store: Send + Sync {{\n{methods}}}\n")
    }

    #[test]
    fn trait_over_method_limit_is_violation() {
        assert!(run_rule(check, &[(PATH, &store(27))]).is_empty());
        let report = run_rule(check, &[(PATH, &store(28))]);
        assert!(
            report[0].starts_with(&format!("{PATH}:2: store-trait: 28 methods")),
            "{report:?}"
        );
    }

    #[test]
    fn missing_trait_is_violation() {
        assert_eq!(run_rule(check, &[]).len(), 1);
        assert_eq!(run_rule(check, &[(PATH, "pub trait Storage {}")]).len(), 1);
    }
}

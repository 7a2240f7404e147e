//! Functions stay short enough to be held in the head.

use proc_macro2::TokenTree;

use super::Violation;
use super::tokens::{braces, ident, inside, is_punct, lex, line};
use super::tree::Tree;

const RULE: &str = "functions";

/// The most lines of a function, from `fn` to its closing brace.
const LINES_MAX: usize = 100;

/// Finds functions above the limit, wherever they are: in impls, traits, macros and functions.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        match lex(text) {
            Ok(tokens) => visit(path, &tokens, &mut found),
            Err(line) => found.push(Violation::new(
                path,
                line,
                RULE,
                "not Rust as far as the lexer can tell: fix it",
            )),
        }
    }
    found
}

fn visit(path: &str, tokens: &[TokenTree], found: &mut Vec<Violation>) {
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            visit(path, &inside(group), found);
        }
        if ident(Some(token)).as_deref() == Some("fn")
            && let Some((name, last)) = body_end(tokens.get(at + 1..).unwrap_or_default())
        {
            let first = line(token);
            let lines = last + 1 - first;
            if lines > LINES_MAX {
                found.push(Violation::new(
                    path,
                    first,
                    RULE,
                    format!(
                        "`{name}` has {lines} lines, the limit is {LINES_MAX}: \
                         keep its control flow and move pure pieces out"
                    ),
                ));
            }
        }
    }
}

/// The name and last line of the function whose `fn` came just before; `None` for types
/// (`fn(u8)`) and for functions without a body.
fn body_end(tokens: &[TokenTree]) -> Option<(String, usize)> {
    // Inside `macro_rules!` the name may be `$name`.
    let name = ident(tokens.first()).or_else(|| {
        is_punct(tokens.first(), '$')
            .then(|| ident(tokens.get(1)).map(|name| format!("${name}")))?
    })?;
    for (at, token) in tokens.iter().enumerate() {
        if is_punct(Some(token), ';') {
            return None;
        }
        // `Foo<{ N }>` is a constant, not the body.
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        if let Some(group) = braces(Some(token))
            && !is_punct(before, '<')
            && !is_punct(before, ',')
        {
            return Some((name, group.span_close().end().line));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::run_rule;
    use super::*;

    /// Returns a function `f` with this number of lines and braces that mislead a naive counter.
    fn function(lines: usize) -> String {
        let body = "    let _ = (\"}\", '}', r#\"}\"#); // }\n".repeat(lines - 2);
        format!("fn f() {{\n{body}}}\n")
    }

    #[test]
    fn function_over_hundred_lines_is_violation() {
        assert_eq!(
            run_rule(check, &[("a.rs", &function(100))]),
            Vec::<String>::new()
        );
        assert_eq!(
            run_rule(check, &[("a.rs", &format!("\n{}", function(101)))]),
            ["a.rs:2: functions: `f` has 101 lines, the limit is 100: \
              keep its control flow and move pure pieces out"]
        );
    }

    #[test]
    fn functions_in_impls_traits_and_macros_are_counted() {
        let long = function(101);
        for text in [
            format!("impl A {{ {long} }}"),
            format!("mod tests {{ #[test] {long} }}"),
            format!("macro_rules! m {{ ($name:ident) => {{ {long} }} }}"),
            long.replace("fn f()", "fn f(g: fn(u8)) -> A<{ 1 }>"),
            long.replace("fn f()", "macro_rules! m { () => { fn $f()") + "}}",
        ] {
            assert_eq!(run_rule(check, &[("a.rs", &text)]).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_items_are_not_counted() {
        let rows = "    1,\n".repeat(200);
        for text in [
            format!("const T: [u8; 200] = [\n{rows}];"),
            format!("trait A {{ fn f(); }}\nconst T: [u8; 200] = [\n{rows}];"),
            format!("type F = fn(u8);\nmod m {{ const T: [u8; 200] = [\n{rows}]; }}"),
        ] {
            assert_eq!(run_rule(check, &[("a.rs", &text)]), Vec::<String>::new());
        }
    }

    #[test]
    fn unlexable_text_is_violation() {
        assert_eq!(run_rule(check, &[("a.rs", "fn f() {")]).len(), 1);
    }
}

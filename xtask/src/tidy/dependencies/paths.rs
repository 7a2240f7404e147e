//! The paths that a source file names, in `use` lines and inline, also inside macros.

use proc_macro2::TokenTree;

use super::super::tokens::{braces, ident, inside, is_punct, line};

/// One path, such as `std::fs::read`, with `super` and `self` resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// Segments; the first is `crate` for paths inside the crate. `async` and `await` are single segments.
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
    /// From a `pub use`, also `pub(crate)`.
    pub(super) exported: bool,
    /// From code that only tests compile.
    pub(super) in_test: bool,
    /// The name that a `use` gives it.
    pub(super) alias: Option<String>,
}

/// Every path in the tokens of a file whose module is given, such as `["signals", "parse"]`.
pub(super) fn paths(tokens: &[TokenTree], module: &[String], in_test: bool) -> Vec<Named> {
    let mut walk = Walk { found: Vec::new() };
    walk.tokens(tokens, module, in_test);
    walk.found
}

/// The module of a file, given its path under `src/`.
pub(super) fn module_of(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    match stem {
        "lib" | "main" => Vec::new(),
        stem => stem.split('/').map(str::to_owned).collect(),
    }
}

/// Parses the next tokens of one nesting level.
struct Walk {
    found: Vec<Named>,
}

impl Walk {
    fn tokens(&mut self, tokens: &[TokenTree], module: &[String], mut in_test: bool) {
        // An attribute that speaks for the item after it.
        let mut test_item = false;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let here = in_test || test_item;
            let word = ident(Some(token));
            let next = tokens.get(at + 1);
            at += match word.as_deref() {
                Some("use") => {
                    let exported = is_exported(tokens.get(..at).unwrap_or_default());
                    let rest = tokens.get(at + 1..).unwrap_or_default();
                    let end = rest.iter().position(|token| is_punct(Some(token), ';'));
                    let tree = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    let from = self.found.len();
                    self.use_tree(tree, &[], here);
                    for named in self.found.iter_mut().skip(from) {
                        named.exported = exported;
                        resolve(&mut named.segments, module);
                    }
                    tree.len() + 1
                }
                Some("mod") if braces(tokens.get(at + 2)).is_some() => {
                    let mut inner = module.to_vec();
                    inner.extend(ident(next));
                    if let Some(group) = braces(tokens.get(at + 2)) {
                        self.tokens(&inside(group), &inner, here);
                    }
                    test_item = false;
                    3
                }
                Some("async" | "await") => {
                    self.push(word.into_iter().collect(), token, here);
                    1
                }
                Some(_) if !continues(tokens, at) => self.inline(tokens, at, module, here),
                _ => {
                    if let TokenTree::Group(group) = token {
                        let content = inside(group);
                        if is_punct(at.checked_sub(1).and_then(|at| tokens.get(at)), '#') {
                            test_item |= is_test_attribute(&content);
                        } else if is_punct(at.checked_sub(1).and_then(|at| tokens.get(at)), '!') {
                            // `#![cfg(test)]` speaks for all that follows.
                            in_test |= is_test_attribute(&content);
                        }
                        self.tokens(&content, module, in_test || test_item);
                    }
                    test_item &= !ends_item(token);
                    1
                }
            };
        }
    }

    /// A path of two or more segments that starts at `at`; returns how many tokens it has.
    fn inline(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        module: &[String],
        in_test: bool,
    ) -> usize {
        let mut segments: Vec<String> = ident(tokens.get(at)).into_iter().collect();
        let mut length = 1;
        while is_separator(tokens, at + length)
            && let Some(segment) = ident(tokens.get(at + length + 2))
        {
            segments.push(segment);
            length += 3;
        }
        if segments.len() > 1
            && let Some(token) = tokens.get(at)
        {
            resolve(&mut segments, module);
            self.push(segments, token, in_test);
        }
        length
    }

    /// The leaves of a `use`: `a::{b, c::d as e, f::*}`.
    fn use_tree(&mut self, tree: &[TokenTree], prefix: &[String], in_test: bool) {
        for branch in tree.split(|token| is_punct(Some(token), ',')) {
            let mut segments = prefix.to_vec();
            let mut rest = branch.iter().peekable();
            let mut alias = None;
            let mut grouped = false;
            while let Some(token) = rest.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => alias = ident(rest.next()),
                    // `a::{self}` is `a`; `self::a` is resolved later.
                    TokenTree::Ident(word) if word == "self" && !segments.is_empty() => {}
                    TokenTree::Ident(word) => segments.push(word.to_string()),
                    TokenTree::Punct(punct) if punct.as_char() == '*' => {
                        segments.push("*".to_owned());
                    }
                    TokenTree::Group(group) => {
                        grouped = true;
                        self.use_tree(&inside(group), &segments, in_test);
                    }
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
            if let Some(first) = branch.first()
                && !grouped
                && !segments.is_empty()
            {
                let alias = alias.or_else(|| segments.last().cloned());
                self.push(segments, first, in_test);
                if let Some(named) = self.found.last_mut() {
                    named.alias = alias;
                }
            }
        }
    }

    fn push(&mut self, segments: Vec<String>, token: &TokenTree, in_test: bool) {
        self.found.push(Named {
            segments,
            line: line(token),
            exported: false,
            in_test,
            alias: None,
        });
    }
}

/// True if the tokens at `at` are `::`.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

/// True if the identifier at `at` continues an expression: `x.at`, `<T>::at`, `'at`.
fn continues(tokens: &[TokenTree], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| tokens.get(at));
    if is_punct(before(1), '.') || is_punct(before(1), '\'') {
        return true;
    }
    // A leading `::` starts a path; one after `>` goes on with a type.
    is_punct(before(1), ':') && is_punct(before(2), ':') && is_punct(before(3), '>')
}

/// True if the tokens end in `pub` or `pub(…)`.
fn is_exported(before: &[TokenTree]) -> bool {
    let last = match before.split_last() {
        Some((TokenTree::Group(_), rest)) => rest.last(),
        Some((last, _)) => Some(last),
        None => None,
    };
    ident(last).as_deref() == Some("pub")
}

/// True if an attribute restricts its item to tests: `test`, `tokio::test`, `cfg(test)`,
/// `cfg(all(test, …))`; not `cfg(not(test))`.
fn is_test_attribute(content: &[TokenTree]) -> bool {
    fn words(tokens: &[TokenTree]) -> Vec<String> {
        let words_of = |token: &TokenTree| match token {
            TokenTree::Group(group) => words(&inside(group)),
            TokenTree::Ident(word) => vec![word.to_string()],
            TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
        };
        tokens.iter().flat_map(words_of).collect()
    }
    let words = words(content);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let first = words.first().map(String::as_str);
    has("test") && !has("not") && first != Some("cfg_attr")
}

/// True if an item ends with this token: its body or its semicolon.
fn ends_item(token: &TokenTree) -> bool {
    braces(Some(token)).is_some() || is_punct(Some(token), ';')
}

/// Replaces `self` and `super` at the start by the path from the root of the crate.
fn resolve(segments: &mut Vec<String>, module: &[String]) {
    let ups = segments
        .iter()
        .take_while(|segment| *segment == "super" || *segment == "self")
        .count();
    if ups == 0 {
        return;
    }
    let supers = segments
        .iter()
        .take(ups)
        .filter(|segment| *segment == "super")
        .count();
    let kept = module.len().saturating_sub(supers);
    let absolute = std::iter::once("crate".to_owned())
        .chain(module.iter().take(kept).cloned())
        .collect::<Vec<_>>();
    segments.splice(..ups, absolute);
}

#[cfg(test)]
mod tests {
    use super::super::super::tokens::lex;
    use super::*;

    fn named(text: &str) -> Vec<Named> {
        let module = ["signals".to_owned(), "parse".to_owned()];
        paths(&lex(text).unwrap(), &module, false)
    }

    fn named_paths(text: &str) -> Vec<String> {
        let join = |named: Named| named.segments.join("::");
        named(text).into_iter().map(join).collect()
    }

    #[test]
    fn path_is_found_in_each_syntax() {
        for (text, expected) in [
            ("use std::fs;", vec!["std::fs"]),
            (
                "use a::{b, c::{d as e, f::*}, self};",
                vec!["a::b", "a::c::d", "a::c::f::*", "a"],
            ),
            ("use super::super::recall::x;", vec!["crate::recall::x"]),
            ("use super::line;", vec!["crate::signals::line"]),
            (
                "use self::inner::x;",
                vec!["crate::signals::parse::inner::x"],
            ),
            (
                "mod tests { use super::*; }",
                vec!["crate::signals::parse::*"],
            ),
            ("fn f() { crate::a::b(); }", vec!["crate::a::b"]),
            (
                "fn f() { ::std::fs::read(x::<u8>()) }",
                vec!["std::fs::read"],
            ),
            (
                "fn f() { println!(\"{}\", std::env::var(a)) }",
                vec!["std::env::var"],
            ),
            ("fn f(a: &'a b::C) { x.y; T::z() }", vec!["b::C", "T::z"]),
            ("async fn f() { g().await }", vec!["async", "await"]),
            ("// use std::fs;\nconst A: &str = \"std::fs\";", vec![]),
            ("fn f() { super::g() }", vec!["crate::signals::g"]),
        ] {
            assert_eq!(named_paths(text), expected, "{text}");
        }
    }

    #[test]
    fn paths_in_tests_and_exports_are_marked() {
        for (text, in_test, exported) in [
            ("use a::b;", false, false),
            ("pub use a::b;", false, true),
            ("pub(crate) use a::b;", false, true),
            ("#[cfg(test)] use a::b;", true, false),
            ("#[cfg(test)] mod tests { fn f() { a::b() } }", true, false),
            ("#[test] fn f() { a::b() }", true, false),
            ("#![cfg(test)] use a::b;", true, false),
            ("#[cfg(not(test))] use a::b;", false, false),
            ("#[cfg(test)] fn x() {} fn f() { a::b() }", false, false),
            ("#[cfg(test)] mod tests; use a::b;", false, false),
        ] {
            let found = named(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(
                (found[0].in_test, found[0].exported),
                (in_test, exported),
                "{text}"
            );
        }
    }

    #[test]
    fn file_path_gives_module_path() {
        assert!(module_of("lib.rs").is_empty());
        assert_eq!(module_of("signals.rs"), ["signals"]);
        assert_eq!(module_of("signals/parse.rs"), ["signals", "parse"]);
    }
}

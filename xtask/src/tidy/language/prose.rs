//! The prose of a file: comments, Markdown, text of templates, and messages in string literals.

use proc_macro2::TokenTree;

use crate::tidy::markdown;
use crate::tidy::tokens::{ident, inside, lex};

/// One line of prose.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: usize,
    /// The text without comment markers, code spans, tags and template expressions.
    pub(super) text: String,
    /// True for the first line of a doc comment.
    pub(super) opens_doc: bool,
}

/// Calls with a message for the user as an argument.
const MESSAGES: [&str; 6] = ["hint", "failed", "usage", "not_found", "refused", "note"];

/// Returns the prose of a file; empty for a file that is neither Rust, Markdown nor a template.
pub(super) fn lines(path: &str, text: &str) -> Vec<Line> {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => {
            let mut found = comments(text);
            if path.contains("/src/") {
                found.extend(messages(text));
            }
            found
        }
        Some("md") => {
            let prose = markdown::prose(text);
            prose
                .map(|(number, line)| {
                    plain(number, &without_destinations(&markdown::without_code(line)))
                })
                .collect()
        }
        Some("html") => template(text),
        Some(_) | None => Vec::new(),
    }
}

fn plain(number: usize, text: &str) -> Line {
    Line {
        number,
        text: text.to_owned(),
        opens_doc: false,
    }
}

/// A line of Markdown without the destinations of its links.
fn without_destinations(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("] ");
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text
}

/// Comments that fill a line. A comment after code is not read.
fn comments(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut in_doc = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(rest) = line.trim_start().strip_prefix("//") else {
            in_doc = false;
            continue;
        };
        let doc = rest.strip_prefix(['/', '!']);
        found.push(Line {
            number,
            text: markdown::without_code(doc.unwrap_or(rest).trim()),
            opens_doc: doc.is_some() && !in_doc,
        });
        in_doc = doc.is_some();
    }
    found
}

/// String literals in calls that make an error or a hint.
fn messages(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    // Another rule reports a file that does not lex.
    for_calls(&lex(text).unwrap_or_default(), &mut found);
    found
}

fn for_calls(tokens: &[TokenTree], found: &mut Vec<Line>) {
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let name = at.checked_sub(1).and_then(|at| ident(tokens.get(at)));
        if name.is_some_and(|name| MESSAGES.contains(&name.as_str())) {
            literals(&inside(group), found);
        } else {
            for_calls(&inside(group), found);
        }
    }
}

fn literals(tokens: &[TokenTree], found: &mut Vec<Line>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(&inside(group), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.contains('"') {
                    let number = literal.span().start().line;
                    found.push(plain(number, &markdown::without_code(&text)));
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// The text between the tags and expressions of a template.
fn template(text: &str) -> Vec<Line> {
    let mut closing: Option<&str> = None;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut visible = String::new();
        let mut rest = line;
        loop {
            if let Some(close) = closing {
                let Some(at) = rest.find(close) else { break };
                rest = rest.get(at + close.len()..).unwrap_or_default();
                closing = None;
                visible.push(' ');
                continue;
            }
            let openings = [("<", ">"), ("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
            let first = openings
                .into_iter()
                .filter_map(|(open, close)| Some((rest.find(open)?, open, close)))
                .min_by_key(|(at, ..)| *at);
            let Some((at, open, close)) = first else {
                visible.push_str(rest);
                break;
            };
            visible.push_str(rest.get(..at).unwrap_or_default());
            rest = rest.get(at + open.len()..).unwrap_or_default();
            closing = Some(close);
        }
        if !visible.trim().is_empty() {
            found.push(plain(number, visible.trim()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        let lines = lines(path, text).into_iter();
        lines.map(|line| line.text).collect()
    }

    #[test]
    fn code_spans_are_removed_from_comments() {
        let text = "//! A.\n//! B `beside`.\n\n/// C.\n#[x]\n/// D.\nfn f() {} // no\n    // E\n";
        let read = comments(text);
        let opens: Vec<bool> = read.iter().map(|line| line.opens_doc).collect();
        assert_eq!(opens, [true, false, true, true, false]);
        let read: Vec<_> = read.into_iter().map(|line| line.text).collect();
        assert_eq!(read, ["A.", "B _.", "C.", "D.", "E"]);
    }

    #[test]
    fn messages_are_prose_and_other_literals_are_ignored() {
        let text =
            "fn f() {\n  x(\"no\");\n  Fault::failed(format!(\"one {}\", 7)).hint(\"two\")\n}";
        assert_eq!(texts("a/src/b.rs", text), ["\"one {}\"", "\"two\""]);
        assert!(texts("a/tests/b.rs", text).is_empty());
    }

    #[test]
    fn template_tags_and_expressions_are_removed() {
        let text = "<p class=\"a\">one {{ x }} two</p>\n{% if y\n  and z %}three\n";
        assert_eq!(texts("a.html", text), ["one   two", "three"]);
    }

    #[test]
    fn markdown_code_and_link_destinations_are_removed() {
        let text = "one `x`\n```\nno\n```\n[two](a/door.rs), [3](b)";
        assert_eq!(texts("a.md", text), ["one _", "[two] , [3] "]);
    }
}

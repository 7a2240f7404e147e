//! Symbols: names of functions and types that edits define or change.

use crate::bounded_text::bounded;
use heirloom_agents::transcripts::FileEdit;

/// Greatest number of symbols of one edit.
const EDIT_SYMBOLS_MAX: usize = 4;
/// Greatest number of bytes of a symbol.
const SYMBOL_BYTES_MAX: usize = 48;
/// Greatest number of lines of an edit that are read.
const LINES_MAX: usize = 400;
/// Words before a definition.
const MODIFIERS: [&str; 16] = [
    "pub",
    "pub(crate)",
    "pub(super)",
    "export",
    "default",
    "declare",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "abstract",
    "final",
    "override",
    "inline",
    "unsafe",
];
/// Words that begin a definition.
const KEYWORDS: [&str; 12] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "function",
    "func",
    "module",
    "defmodule",
];

/// Returns the names that the lines of an edit define.
pub(super) fn edited_symbols(edit: &FileEdit) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let lines = edit.added.lines().chain(edit.removed.lines());
    for line in lines.take(LINES_MAX) {
        let Some(name) = defined_name(line) else {
            continue;
        };
        if !found.iter().any(|known| known == name) {
            found.push(bounded(name, SYMBOL_BYTES_MAX));
        }
        if found.len() == EDIT_SYMBOLS_MAX {
            break;
        }
    }
    found
}

/// Returns the name that a line defines.
fn defined_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let mut is_exported = false;
    while let Some((word, after)) = rest.split_once(' ')
        && MODIFIERS.contains(&word)
    {
        is_exported |= word == "export";
        rest = after.trim_start();
    }
    let (keyword, rest) = rest.split_once(' ')?;
    let is_definition = KEYWORDS.contains(&keyword) || keyword == "const" && is_exported;
    if !is_definition {
        return None;
    }
    // A method of Go has its receiver before its name.
    let rest = match (keyword, rest.strip_prefix('(')) {
        ("func", Some(receiver)) => receiver.split_once(')')?.1.trim_start(),
        _ => rest,
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    let name = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches('.');
    let is_name = name.len() >= 3 && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defined_name_finds_definitions_of_many_languages() {
        for (line, name) in [
            ("pub(crate) fn read_all(x: u8) {", Some("read_all")),
            ("    async def load(self):", Some("load")),
            (
                "export default class OrderPage extends Page {",
                Some("OrderPage"),
            ),
            ("export const useCart = () => {", Some("useCart")),
            (
                "func (s *Server) Handle(w http.ResponseWriter) {",
                Some("Handle"),
            ),
            ("defmodule Shop.Cart do", Some("Shop.Cart")),
            ("type Order struct {", Some("Order")),
            ("const total = 1;", None),
            ("the class of errors", None),
            ("fn", None),
            ("", None),
        ] {
            assert_eq!(defined_name(line), name, "{line}");
        }
    }
}

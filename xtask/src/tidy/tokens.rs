//! Rust sources as tokens: enough to find functions, modules and paths, also inside macros.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens of a file; the error is the line that does not lex.
pub(super) fn lex(text: &str) -> Result<Vec<TokenTree>, usize> {
    match TokenStream::from_str(text) {
        Ok(stream) => Ok(stream.into_iter().collect()),
        Err(error) => Err(error.span().start().line),
    }
}

/// The tokens inside a group.
pub(super) fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// The line on which a token starts, counted from 1.
pub(super) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// The name, when the token is an identifier or a keyword.
pub(super) fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        Some(TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => None,
    }
}

/// True if the token is this punctuation character.
pub(super) fn is_punct(token: Option<&TokenTree>, c: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == c)
}

/// The group, when the token is one in `{}`.
pub(super) fn braces(token: Option<&TokenTree>) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group),
        Some(
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_),
        )
        | None => None,
    }
}

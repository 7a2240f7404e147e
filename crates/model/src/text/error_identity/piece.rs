//! Pieces of an error: marks, names and numbers.

use std::ops::Range;

/// Part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Blanks and punctuation.
    Mark(Range<usize>),
    /// Letters, digits and `_`, not beginning with a digit; with the rest of a version: `v3.8`.
    Name(Range<usize>),
    /// Digits with dots between them, and a unit.
    Number(Range<usize>),
}

impl Piece {
    /// Returns the end in the text.
    pub(super) fn end(&self) -> usize {
        match self {
            Self::Mark(range) | Self::Name(range) | Self::Number(range) => range.end,
        }
    }
}

/// Returns the piece of a text at `at`; `None` at the end.
pub(super) fn next_piece(text: &str, at: usize) -> Option<Piece> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let run_end = |from: usize| {
        let end = text[from..].find(|c| !is_part(c));
        end.map_or(text.len(), |end| from + end)
    };
    let first = text[at..].chars().next()?;
    if !is_part(first) {
        let end = text[at..].find(is_part).map_or(text.len(), |end| at + end);
        return Some(Piece::Mark(at..end));
    }
    let mut end = run_end(at);
    let begins_with_digit = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_digit());
    while text[..end].ends_with(|c: char| c.is_ascii_digit())
        && text[end..].starts_with('.')
        && begins_with_digit(end + 1)
    {
        end = run_end(end + 1);
    }
    Some(match first.is_ascii_digit() {
        true => Piece::Number(at..end),
        false => Piece::Name(at..end),
    })
}

//! Parts of a template, and positions and problems in its text.

use std::fmt;

/// Position in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Problem of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    /// Start of the invalid part.
    pub at: Position,
    /// Description of the problem.
    pub message: String,
}

impl fmt::Display for TemplateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// Arguments of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentSlot {
    /// All arguments.
    All,
    /// The argument with this number, from 1.
    Nth(usize),
}

/// Quotes around a placeholder in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Single,
    Double,
}

/// Part of the content of `!{}` or `@{}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockPiece {
    Text(String),
    ArgumentSlot(ArgumentSlot, Quotes, Position),
}

/// Part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Text(String),
    ArgumentSlot(ArgumentSlot, Position),
    Shell(Vec<BlockPiece>, Position),
    File(Vec<BlockPiece>, Position),
}

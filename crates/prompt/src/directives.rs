//! Directives in agent invocations, such as `agent[input:docs/*.md][tail:50]`.
//!
//! Pure: text in, values out. [`parse`] reads an invocation, its `Display` writes it so that it parses to the same
//! value, [`glob`] matches paths, and [`block`] fences text so that it cannot end its block.

pub mod block;
mod directive_parser;
mod directive_values;
mod display;
pub mod glob;
mod invocation_reader;

use heirloom_model::Budget;
use heirloom_model::limits::DIRECTIVE_SHOWN_CHARS;
use std::fmt;

/// An agent with directives for its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Name of the agent.
    pub agent: String,
    /// Directives, in the order of the text.
    pub directives: Vec<Directive>,
}

/// One directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directive {
    /// `input:…`: injects these files; at least one.
    Input(Vec<FileInput>),
    /// `tail:N`: injects the last lines of the previous output of the agent.
    Tail(usize),
    /// `recall:…`: injects search results for these words.
    Recall(String),
    /// `budget:N`: sets the maximum size of the context.
    Budget(Budget),
}

/// Files, or a range of their lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInput {
    /// Selected files.
    pub name: FileSelector,
    /// Line range; `None` = all lines.
    pub lines: Option<LineRange>,
}

/// Selector of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSelector {
    /// One file, by its literal name.
    Exact(String),
    /// All files that match a pattern with `*`, `?` and `**`.
    Pattern(String),
}

impl FileSelector {
    /// Returns the text of the selector.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(name) | Self::Pattern(name) => name,
        }
    }
}

/// Range of lines of a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// First line.
    pub from: usize,
    /// Last line; `None` = the last line of the file.
    pub to: Option<usize>,
}

/// Syntax error of an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Character, counted from 1.
    pub column: usize,
    /// Description of the problem.
    pub problem: String,
    /// Suggestion for a correction.
    pub hint: String,
    /// Text around the column, with a caret on the line below.
    pub caret_excerpt: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            problem,
            caret_excerpt,
            ..
        } = self;
        write!(f, "column {column}: {problem}\n{caret_excerpt}")
    }
}

impl std::error::Error for SyntaxError {}

/// Parses an invocation: the name of an agent, then directives in brackets.
///
/// Errors: the first invalid position. The column is inside of the text, or 1 if the text is empty.
pub fn parse(text: &str) -> Result<Invocation, SyntaxError> {
    directive_parser::parse_invocation(text)
}

/// Returns the text around a column on one line, and a caret on the line below.
fn caret_excerpt(text: &str, column: usize) -> String {
    let before = column.saturating_sub(1);
    let start = before.saturating_sub(DIRECTIVE_SHOWN_CHARS / 2);
    let one_column = |c: char| {
        if heirloom_model::text::is_safe_to_display(c) {
            c
        } else {
            '\u{fffd}'
        }
    };
    let line: String = (text.chars().skip(start))
        .take(DIRECTIVE_SHOWN_CHARS)
        .map(one_column)
        .collect();
    let cut = if start > 0 { "…" } else { "" };
    let goes_on = if text.chars().nth(start + DIRECTIVE_SHOWN_CHARS).is_some() {
        "…"
    } else {
        ""
    };
    let room = before - start + cut.chars().count();
    format!("  {cut}{line}{goes_on}\n  {}^", " ".repeat(room))
}

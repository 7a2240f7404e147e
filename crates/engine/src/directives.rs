//! What an invocation asks for: `agent[input:docs/*.md][tail:50]`, read and written.
//!
//! Pure: text in, values out. [`parse`] reads an invocation, its `Display` writes it so that it reads the same,
//! [`glob`] says what a pattern matches, [`block`] puts a text between marks that it cannot forge.

pub mod block;
pub mod glob;
mod parser;
mod shown;
mod values;

use heirloom_model::Budget;
use heirloom_model::limits::DIRECTIVE_SHOWN_CHARS;
use std::fmt;

/// An agent, and what its prompt gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Its name.
    pub agent: String,
    /// What is asked for, in the order in which it was said.
    pub directives: Vec<Directive>,
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directive {
    /// `input:…`: these files; at least one.
    Input(Vec<Input>),
    /// `tail:N`: the last lines of the agent's previous output.
    Tail(usize),
    /// `recall:…`: what memory has for these words.
    Recall(String),
    /// `budget:N`: how long the context may be.
    Budget(Budget),
}

/// Files, or lines of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Which files.
    pub name: Name,
    /// Which lines; all if nothing is said.
    pub lines: Option<Lines>,
}

/// How files are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// One file, each character of its name as it is.
    Exact(String),
    /// Whatever the pattern matches: `*`, `?` and `**`.
    Pattern(String),
}

impl Name {
    /// What was said.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(name) | Self::Pattern(name) => name,
        }
    }
}

/// Lines of a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lines {
    /// The first.
    pub from: usize,
    /// The last; the file's last if nothing is said.
    pub to: Option<usize>,
}

/// Why an invocation cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where: the character, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
    /// What would be right.
    pub hint: String,
    /// The line around that place, and below it a caret.
    pub picture: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            problem,
            picture,
            ..
        } = self;
        write!(f, "column {column}: {problem}\n{picture}")
    }
}

impl std::error::Error for SyntaxError {}

/// Reads an invocation: an agent's name, then directives in brackets.
///
/// Errors: the first place that is wrong; the column lies inside the text, or is 1 if the text is empty.
pub fn parse(text: &str) -> Result<Invocation, SyntaxError> {
    parser::invocation(text)
}

/// The text around a column on one line, and a caret below it.
fn picture(text: &str, column: usize) -> String {
    let before = column.saturating_sub(1);
    let start = before.saturating_sub(DIRECTIVE_SHOWN_CHARS / 2);
    let one_column = |c: char| {
        if heirloom_model::text::is_harmless(c) {
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

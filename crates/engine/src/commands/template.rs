//! A template as what it is made of.

use super::reader;
use std::fmt;

/// Where something stands in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The character in it, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it begins.
    pub at: Position,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// Which arguments go into a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// All of them.
    All,
    /// The one with this number, from 1.
    Nth(usize),
}

/// What a place in a script stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Single,
    Double,
}

/// A part of what stands between the braces of `!{}` or `@{}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Slot(Slot, Quotes, Position),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Slot(Slot, Position),
    Shell(Vec<Piece>, Position),
    File(Vec<Piece>, Position),
}

/// A template, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    pub(super) parts: Vec<Part>,
}

/// Which arguments a template has places for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arguments {
    /// The highest number of `{{argN}}`: so many arguments are needed.
    pub needed: usize,
    /// Whether there is a place for all of them.
    pub all: bool,
}

impl Template {
    /// Takes a template apart, and says what is wrong with it. With a problem it must not be filled in.
    ///
    /// `!{…}` and `@{…}` end at their balanced brace. In `!{…}` braces between quotes or behind a backslash do not
    /// count. A backslash before `!{`, `@{` or `{{` takes their meaning away; two are one backslash.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let (parts, problems) = reader::read(text);
        (Self { parts }, problems)
    }

    /// Whether it runs a program.
    pub fn runs_programs(&self) -> bool {
        (self.parts.iter()).any(|part| matches!(part, Part::Shell(..)))
    }

    /// Whether it is nothing but one `!{…}`, or one `@{…}`, with blanks around it.
    pub(super) fn is_only(&self, wanted: impl Fn(&Part) -> bool) -> bool {
        let blank = |part: &&Part| matches!(part, Part::Text(text) if text.trim().is_empty());
        let mut rest = self.parts.iter().filter(|part| !blank(part));
        rest.next().is_some_and(wanted) && rest.next().is_none()
    }

    /// This template with another one behind it, on a line of its own.
    pub(super) fn followed_by(mut self, other: Self) -> Self {
        if !self.parts.is_empty() && !other.parts.is_empty() {
            self.parts.push(Part::Text("\n".to_owned()));
        }
        self.parts.extend(other.parts);
        self
    }

    /// Which arguments it has places for.
    pub fn arguments(&self) -> Arguments {
        let mut found = Arguments::default();
        let mut take = |slot: Slot| match slot {
            Slot::All => found.all = true,
            Slot::Nth(n) => found.needed = found.needed.max(n),
        };
        for part in &self.parts {
            match part {
                Part::Text(_) => {}
                Part::Slot(slot, _) => take(*slot),
                Part::Shell(pieces, _) | Part::File(pieces, _) => {
                    for piece in pieces {
                        if let Piece::Slot(slot, ..) = piece {
                            take(*slot);
                        }
                    }
                }
            }
        }
        found
    }
}

//! Parsed templates of commands.

use super::template_parser;
use super::template_part::{ArgumentSlot, BlockPiece, TemplatePart, TemplateProblem};

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    pub(super) parts: Vec<TemplatePart>,
}

/// Arguments that a template has placeholders for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TemplateArguments {
    /// Number of required arguments: the highest number of `{{argN}}`.
    pub required_count: usize,
    /// True if the template contains `{{args}}`.
    pub takes_all: bool,
}

impl Template {
    /// Parses a template; returns it with its problems. A template with a problem must not be filled in.
    ///
    /// `!{…}` and `@{…}` end at their balanced brace. In `!{…}` braces in quotes or after a backslash do not count. A
    /// backslash before `!{`, `@{` or `{{` escapes them; two are one backslash.
    pub fn parse(text: &str) -> (Self, Vec<TemplateProblem>) {
        let (parts, problems) = template_parser::parse_template(text);
        (Self { parts }, problems)
    }

    /// Returns true if the template runs a program.
    pub fn runs_programs(&self) -> bool {
        (self.parts.iter()).any(|part| matches!(part, TemplatePart::Shell(..)))
    }

    /// Returns true if the template inserts a file.
    pub fn inserts_files(&self) -> bool {
        (self.parts.iter()).any(|part| matches!(part, TemplatePart::File(..)))
    }

    /// Appends another template on a new line.
    pub(super) fn append(mut self, other: Self) -> Self {
        if !self.parts.is_empty() && !other.parts.is_empty() {
            self.parts.push(TemplatePart::Text("\n".to_owned()));
        }
        self.parts.extend(other.parts);
        self
    }

    /// Returns the arguments that the template has placeholders for.
    pub fn arguments(&self) -> TemplateArguments {
        let mut found = TemplateArguments::default();
        let mut take = |slot: ArgumentSlot| match slot {
            ArgumentSlot::All => found.takes_all = true,
            ArgumentSlot::Nth(n) => found.required_count = found.required_count.max(n),
        };
        for part in &self.parts {
            match part {
                TemplatePart::Text(_) => {}
                TemplatePart::ArgumentSlot(slot, _) => take(*slot),
                TemplatePart::Shell(pieces, _) | TemplatePart::File(pieces, _) => {
                    for piece in pieces {
                        if let BlockPiece::ArgumentSlot(slot, ..) = piece {
                            take(*slot);
                        }
                    }
                }
            }
        }
        found
    }
}

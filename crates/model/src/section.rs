//! What a source has for a prompt: plain data, before anything is chosen or written.

use crate::RecordId;

/// Where an offer is from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// Nothing that could be opened.
    #[default]
    Nowhere,
    /// A record.
    Record(RecordId),
    /// A file, relative to its root, and a line of it, counted from 1.
    File {
        /// The path, with `/`.
        path: String,
        /// The line where it begins, if it is a part of the file.
        line: Option<u32>,
    },
}

/// One thing that a source has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    /// Where it is from.
    pub origin: Origin,
    /// What it says; several lines stay several lines.
    pub text: String,
    /// How much it is wanted beside the others of its source, if the source can tell.
    pub score: Option<f64>,
}

/// What a source has for this prompt, the most wanted first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The source: `workspace`, `group`, `plan`; its row in the config names it too.
    pub name: String,
    /// The line above it; empty for none.
    pub heading: String,
    /// What there is.
    pub offers: Vec<Offer>,
    /// What somebody should know of the source: a file that was cut or could not be read.
    pub notes: Vec<String>,
}

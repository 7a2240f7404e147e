//! Who changed what: events beside the records, and imports as one.

use crate::RecordId;
use jiff::Timestamp;
use std::fmt;
use std::str::FromStr;

/// What happened to a record, or to many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It was written.
    Created,
    /// It was written in the place of another one.
    Replaced,
    /// It lost against another source's value and was written as history.
    Conflict,
    /// Somebody said the same again.
    Confirmed,
    /// It was retired without a successor.
    Retired,
    /// It is current again.
    Restored,
    /// Somebody decided that it holds, against what other sources say.
    Resolved,
    /// That decision was taken back.
    Reopened,
    /// An import began; what it brought belongs to its batch.
    Imported,
    /// An import was taken back as one, or brought back.
    Reversed,
    /// Something was deleted for good.
    Purged,
    /// Somebody pinned or muted it, or said whether it was useful.
    Marked,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 12] = [
        Self::Created,
        Self::Replaced,
        Self::Conflict,
        Self::Confirmed,
        Self::Retired,
        Self::Restored,
        Self::Resolved,
        Self::Reopened,
        Self::Imported,
        Self::Reversed,
        Self::Purged,
        Self::Marked,
    ];

    /// Whether it is the writing of a record, which the record itself tells.
    pub fn is_writing(self) -> bool {
        matches!(self, Self::Created | Self::Replaced | Self::Conflict)
    }

    /// Its name in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Conflict => "conflict",
            Self::Confirmed => "confirmed",
            Self::Retired => "retired",
            Self::Restored => "restored",
            Self::Resolved => "resolved",
            Self::Reopened => "reopened",
            Self::Imported => "imported",
            Self::Reversed => "reversed",
            Self::Purged => "purged",
            Self::Marked => "marked",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no action")]
pub struct BadAction(pub String);

impl FromStr for Action {
    type Err = BadAction;

    fn from_str(text: &str) -> Result<Self, BadAction> {
        let found = Self::ALL.into_iter().find(|action| action.as_str() == text);
        found.ok_or_else(|| BadAction(crate::text::excerpt(text, 60)))
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub action: Action,
    /// Who did it: `user`, an agent's id, `prune`.
    pub by: String,
    /// The record that it is about; none for what is about many.
    pub record: Option<RecordId>,
    /// The other record: who was replaced, who won, who was retired in favour of a restored one.
    pub other: Option<RecordId>,
    /// The import that it is about.
    pub batch: Option<RecordId>,
    /// What else is to be said: the source of an import, what a purge removed.
    pub detail: Option<String>,
}

/// An import as one thing, which can be taken back as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its id.
    pub id: RecordId,
    /// Where it came from: the format and the file's name.
    pub source: String,
    /// Who took it in.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

//! Audit trail: events about records, and import batches.

use crate::RecordId;
use jiff::Timestamp;
use std::fmt;
use std::str::FromStr;

/// Kind of an audit event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A record was written.
    Created,
    /// A record was written as the successor of another one.
    Replaced,
    /// A record lost against another source's value and was stored as history.
    Conflict,
    /// A record was confirmed.
    Confirmed,
    /// A record was retired without a successor.
    Retired,
    /// A retired record became current again.
    Restored,
    /// A conflict was resolved in favour of a record.
    Resolved,
    /// The resolution of a conflict was reverted.
    Reopened,
    /// An import batch began.
    Imported,
    /// An import batch was reverted or restored.
    Reversed,
    /// Data was purged.
    Purged,
    /// A record was pinned, muted or rated as useful, or the opposite.
    Marked,
}

impl Action {
    /// All actions.
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

    /// Returns true for the writing of a record: the record itself contains that data.
    pub fn is_record_write(self) -> bool {
        matches!(self, Self::Created | Self::Replaced | Self::Conflict)
    }

    /// Returns the name in SQL and JSON.
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

/// Error for an unknown action name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action")]
pub struct BadAction(pub String);

impl FromStr for Action {
    type Err = BadAction;

    fn from_str(text: &str) -> Result<Self, BadAction> {
        let found = Self::ALL.into_iter().find(|action| action.as_str() == text);
        found.ok_or_else(|| BadAction(crate::text::excerpt(text, 60)))
    }
}

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Time of the event or import.
    pub at: Timestamp,
    /// Kind of the event.
    pub action: Action,
    /// The author: `user`, an agent's id, `prune`.
    pub by: String,
    /// The record concerned; `None` for an event about many records.
    pub record: Option<RecordId>,
    /// A second record: the replaced one, the winner of a conflict, or the one retired for a restored one.
    pub other: Option<RecordId>,
    /// The import batch concerned.
    pub batch: Option<RecordId>,
    /// Additional text: the source of an import, what a purge removed.
    pub detail: Option<String>,
}

/// Import batch: all writes of one import, which is reverted and restored as one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBatch {
    /// Id of the batch.
    pub id: RecordId,
    /// Format and file name of the source.
    pub source: String,
    /// Author of the import.
    pub by: String,
    /// Time of the event or import.
    pub at: Timestamp,
}

//! What contexts held: receipts, and how often a record was told.

use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, Timestamp};

/// What one context held, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// Its id.
    pub id: RecordId,
    /// When the context was made.
    pub at: Timestamp,
    /// The session that it was made for.
    pub session: Option<String>,
    /// The iteration that it was made for.
    pub iteration: Option<u32>,
    /// The records that were in it; empty when it is read whole.
    pub records: Vec<RecordId>,
    /// What it says, for whoever shows it.
    pub body: Attrs,
}

/// Which receipts are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    /// At most so many, with all that they say.
    Whole(usize),
    /// At most so many, without their `sections`; instead with the records of this project that were in them, by id.
    Heads(usize),
}

impl Newest {
    /// At most how many.
    pub fn most(self) -> usize {
        match self {
            Self::Whole(most) | Self::Heads(most) => most,
        }
    }
}

/// How often a record was told in contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The record.
    pub record: RecordId,
    /// How often.
    pub times: u64,
    /// When it was last.
    pub last_at: Timestamp,
    /// When, oldest first, of those whose receipts are kept.
    pub at: Vec<Timestamp>,
}

/// What [`crate::Store::told`] answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The newest receipts, newest first.
    pub receipts: Vec<Receipt>,
    /// The uses of the records that were asked for and were told at all, by id.
    pub uses: Vec<Use>,
}

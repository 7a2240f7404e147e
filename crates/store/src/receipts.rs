//! Receipts of contexts and delivery statistics of records.

use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, Timestamp};

/// Receipt of one context as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// Id of the receipt.
    pub id: RecordId,
    /// Time at which the context was built.
    pub at: Timestamp,
    /// Session for which the context was built.
    pub session: Option<String>,
    /// Iteration for which the context was built.
    pub iteration: Option<u32>,
    /// Records that the context contained; empty in a receipt that was read with [`RecentReceipts::Full`].
    pub records: Vec<RecordId>,
    /// Content of the receipt as JSON, for display.
    pub body: Attrs,
}

/// Selection of recent receipts: maximum number and detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecentReceipts {
    /// Receipts with their full body.
    Full(usize),
    /// Receipts without the `sections` and the texts of their body, but with the ids of this project's records that
    /// they contained.
    Headers(usize),
    /// The receipt with this id, with its full body.
    One(RecordId),
}

impl RecentReceipts {
    /// Returns the maximum number of receipts.
    pub fn limit(self) -> usize {
        match self {
            Self::Full(most) | Self::Headers(most) => most,
            Self::One(_) => 1,
        }
    }
}

/// Number and times of the deliveries of a record in contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordUsage {
    /// Id of the record.
    pub record: RecordId,
    /// Number of deliveries.
    pub count: u64,
    /// Time of the last delivery.
    pub last_at: Timestamp,
    /// Times of the deliveries whose receipts are still stored, oldest first.
    pub delivery_times: Vec<Timestamp>,
}

/// Result of [`crate::Store::delivery_stats`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeliveryStats {
    /// Recent receipts, newest first.
    pub receipts: Vec<Receipt>,
    /// Usage of the requested records that were delivered at least once, ordered by id.
    pub usage: Vec<RecordUsage>,
}

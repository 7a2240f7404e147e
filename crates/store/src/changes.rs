//! Changes of records, sessions, imports and receipts: the write language of the store, and the outcome of each change.

use crate::receipts::Receipt;
use heirloom_model::{
    ImportBatch, Mark, MergeRule, Message, Record, RecordId, Session, Timestamp, ValidityGap,
};

/// A write to the records of a project: the write language of the store.
///
/// Every change to records, imported sessions, import batches and receipts, except a purge, is one of these commands.
/// [`Store::apply`](crate::Store::apply) executes a list of them in order, in one transaction, and returns an
/// [`AppliedChange`] for each.
/// Changes are plain data, so callers build, redact and validate them before anything touches the database. `Stale`
/// and `NotFound` below are the errors of a change whose precondition does not hold; then the whole list has no effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes `record`. If a current record has the same identity (kind, category and key), `merge` decides between
    /// confirming, replacing and keeping it; otherwise the record is created.
    ///
    /// The time of the change is `recorded_at`, or just after that of the current record if a clock went back: no
    /// record is retired before it was recorded. A current record that has expired by then is retired in favour of
    /// the new one, which counts as created. A record that is already retired is written as history: it has no
    /// identity and replaces nothing.
    ///
    /// `Stale` if the id exists. With `MergeRule::Keep` an existing record with this id is left as is; if it belonged to
    /// a reverted import, it is restored.
    Put {
        /// The new record.
        record: Box<Record>,
        /// The rule for a record with the same identity.
        merge: MergeRule,
    },
    /// Replaces the current record `id` by `record`. The two may differ in key and category, not in kind. `Stale` if
    /// `id` is not current, or if another current record has the new identity.
    Revise {
        /// The current record.
        id: RecordId,
        /// Its successor.
        record: Box<Record>,
    },
    /// Retires the record `id` without a successor. `Stale` if it is already retired.
    Retire {
        /// Id of the record.
        id: RecordId,
        /// Time of the change.
        at: Timestamp,
        /// Author of the change.
        by: String,
    },
    /// Makes the retired record `id` current again, with the content that it had when it was retired. The current
    /// record with its identity, or the current end of its chain, is retired in its favour, so that restoring that
    /// one reverts the change. The time in between is stored as a validity gap: queries about it do not find the
    /// record. `Stale` if it is not retired, or has expired since.
    Restore {
        /// Id of the record.
        id: RecordId,
        /// Time of the change.
        at: Timestamp,
        /// Author of the change.
        by: String,
    },
    /// Resolves a conflict in favour of `keep`, which is current or lost an open conflict against the current record
    /// of its chain; in the second case it becomes current, as by `Restore`. Every other open conflict of the chain
    /// is arbitrated at this time, and none of its records is disputed any more. `Stale` if no conflict is open, if
    /// `keep` has no part in it, or if the chain has no current record.
    ResolveConflict {
        /// Record that wins.
        keep: RecordId,
        /// Time of the change.
        at: Timestamp,
        /// Author of the decision.
        by: String,
    },
    /// Reverts the resolution in favour of `id`, which is current because of it: its conflicts are open again, and
    /// the record that was current before is current again. `Stale` if the record was changed since, except for
    /// confirmations.
    ReopenConflict {
        /// Record that won.
        id: RecordId,
        /// Time of the change.
        at: Timestamp,
        /// Author of the change.
        by: String,
    },
    /// Sets `mark` in the attributes of the current record `id`. Its successors inherit the pinned and muted states.
    /// `Unchanged` if the mark is already set; `Stale` if the record is not current.
    Mark {
        /// Id of the record.
        id: RecordId,
        /// Mark to set.
        mark: Mark,
        /// Time of the change.
        at: Timestamp,
        /// Author of the mark.
        by: String,
    },
    /// Assigns everything that later changes of the same call create to this import batch. The batch is created with
    /// the first of them; further calls may add to it.
    BeginBatch(ImportBatch),
    /// Imports the session unless it exists. A session of a reverted import is restored.
    ImportSession(Box<Session>),
    /// Imports a message at the end of the session unless its id exists in the project; the store assigns `seq`. A
    /// message of a reverted import is restored. `NotFound` without the session.
    ImportMessage {
        /// Id of the session.
        session: String,
        /// Message to append.
        message: Box<Message>,
    },
    /// Stores a validity gap of the record if the record was created by the current batch; otherwise nothing changes,
    /// because existing records stay as they are.
    ImportValidityGap {
        /// Id of the record.
        id: RecordId,
        /// Time span in which the record was not current.
        gap: ValidityGap,
    },
    /// Stores the receipt of a context and counts its existing records as delivered. The oldest receipt is dropped
    /// when there are [`heirloom_model::limits::RECEIPTS_KEPT`]. Alone in a call, this is the one change that is not
    /// synced: a power failure may lose it as a whole, so that building a prompt never waits for the disk.
    StoreReceipt(Box<Receipt>),
    /// Reverts the import batch: its records that are still current are retired, records that they replaced are
    /// current again, its sessions and messages are hidden. If it is already reverted, it is restored, except for
    /// records whose identity another record has taken since. `NotFound` if the batch does not exist.
    ToggleBatch {
        /// Id of the batch.
        batch: RecordId,
        /// Time of the change.
        at: Timestamp,
        /// Author of the change.
        by: String,
    },
}

/// Outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A new record was created.
    Created,
    /// The current record has the same content and was confirmed.
    Confirmed,
    /// A new record replaced an older one.
    Replaced,
    /// The new record lost against the value of another source, or waits for a resolution; it is stored as history.
    Conflict,
    /// Nothing was written: the current record already has this content.
    Unchanged,
    /// The record is no longer current.
    Retired,
    /// The record is current again.
    Restored,
    /// A conflict was resolved in favour of the record.
    Resolved,
    /// A resolution was reverted; the record is the one that was current before it.
    Reopened,
    /// The record was pinned, muted or rated.
    Marked,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 10] = [
        Self::Created,
        Self::Confirmed,
        Self::Replaced,
        Self::Conflict,
        Self::Unchanged,
        Self::Retired,
        Self::Restored,
        Self::Resolved,
        Self::Reopened,
        Self::Marked,
    ];

    /// Returns the name of [`AppliedChange::other`] in JSON.
    pub fn other_name(self) -> &'static str {
        match self {
            Self::Conflict => "winner",
            Self::Replaced => "replaced",
            Self::Restored | Self::Resolved | Self::Reopened => "retired",
            Self::Created | Self::Confirmed | Self::Unchanged | Self::Retired | Self::Marked => {
                "other"
            }
        }
    }

    /// Returns the name of the verdict in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Confirmed => "confirmed",
            Self::Replaced => "replaced",
            Self::Conflict => "conflict",
            Self::Unchanged => "unchanged",
            Self::Retired => "retired",
            Self::Restored => "restored",
            Self::Resolved => "resolved",
            Self::Reopened => "reopened",
            Self::Marked => "marked",
        }
    }
}

/// Outcome of one change with the records that it concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedChange {
    /// The record that the change concerns: the one that was written, the current one that was confirmed or left as
    /// it is, or the one whose validity gap was stored. Of an `ImportMessage` the message; of a `StoreReceipt` the
    /// receipt; of `BeginBatch`, `ToggleBatch` and `ImportSession` the batch (the smallest id outside of a batch).
    pub id: RecordId,
    /// Outcome of the change.
    pub verdict: Verdict,
    /// The other record, if any: the replaced record, the winner of the conflict, or the record that a restore or a
    /// resolution retired (the end of the chain, if another record has the identity).
    pub other: Option<RecordId>,
}

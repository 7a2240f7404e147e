//! The [`Store`] trait and [`Change`], the language in which all writes to it are expressed.

use crate::SharedStore;
use crate::receipts::{DeliveryStats, Receipt, RecentReceipts};
use crate::search::{SearchQuery, SearchResults};
use crate::{EmbeddingBacklog, Filter, StoreError, VectorBatch};
use heirloom_model::{
    Event, ImportBatch, Kind, Mark, MergeRule, Message, ProjectName, Record, RecordId, Session,
    Timestamp, ValidityGap,
};
use std::collections::HashMap;
use std::path::Path;

/// A write to the records of a project: the write language of the store.
///
/// Every change to records, imported sessions, import batches and receipts, except a purge, is one of these commands.
/// [`Store::apply`] executes a list of them in order, in one transaction, and returns an [`AppliedChange`] for each.
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

/// Target of a purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurgeTarget {
    /// These records with all their predecessors and successors.
    Records(Vec<RecordId>),
    /// Every record, and the content of every message, that contains this text, case-insensitively; also sessions
    /// with this text in their name, and any other column that contains it.
    Containing(String),
    /// A session, its messages, and the records of its scope.
    Session(String),
    /// The whole project.
    Project,
}

/// Numbers of purged or purgeable items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Number of records, retired ones included.
    pub records: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of messages. A message inside a session that stays keeps its position, with its text replaced.
    pub messages: u64,
    /// True if deleted content may remain in free pages or in the write-ahead log, because another process reads an
    /// old snapshot or the disk is full. Repeating the purge removes it.
    pub residue: bool,
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

/// Number of current records of each kind; kinds without records are omitted.
pub type KindCounts = Vec<(Kind, u64)>;

/// Description of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// `sqlite` and the path, or `sqlite (memory)`.
    pub location: String,
    /// Version of the schema.
    pub schema_version: u32,
    /// Size on disk, write-ahead log included, bytes.
    pub size_bytes: u64,
}

/// Storage of records, sessions and messages of many projects, for many processes at once.
///
/// Guarantees of every method: it is atomic; if it returns an error, it had no effect; if a write returns `Ok`, it
/// survives `kill -9` and power loss; a reader sees every write that was acknowledged before the read began. The
/// first write to a project creates it; reading an unknown project finds nothing. [`crate::conformance`] checks
/// implementations.
pub trait Store: Send + Sync {
    /// Executes `changes` in order, all or none, with one sync; returns one outcome for each, in the same order.
    ///
    /// Later changes see earlier ones. Errors: `Invalid` over a cap; `NotFound` and `Stale` as documented at each
    /// change. An empty slice writes nothing.
    fn apply(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError>;

    /// Returns the record `id`, current or not. Errors: `NotFound`.
    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError>;

    /// Returns the ids that begin with `prefix` (hexadecimal, case and hyphens ignored), oldest first, at most
    /// `limit`; none if `prefix` is not hexadecimal. If `prefix` begins with `…`, the rest is matched against the end
    /// of the ids.
    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError>;

    /// Returns the records that match `filter`, in its order. Errors: `Invalid` for a limit over the cap.
    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError>;

    /// Counts the records that match `filter`, up to its limit. Errors: as for [`Store::find`].
    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError>;

    /// Searches the index.
    ///
    /// Every acknowledged write is in the index. The same query gives the same results in the same order. Errors:
    /// `Invalid` if `limit_per_arm` exceeds the cap.
    fn search(
        &self,
        project: &ProjectName,
        search: &SearchQuery,
    ) -> Result<SearchResults, StoreError>;

    /// Returns the chain of records that `id` belongs to: its predecessors, itself, its successors, and records that
    /// lost a conflict against one of them. The order is by id, oldest first, which is the order of the writers'
    /// clocks. Errors: `NotFound`.
    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError>;

    /// Returns the validity gaps of these records, in order of id and time. Errors: `Invalid` for too many ids.
    fn validity_gaps(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, ValidityGap)>, StoreError>;

    /// Counts the records of each kind that are current at `now`.
    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<KindCounts, StoreError>;

    /// Returns the names of all projects that were ever written to, sorted.
    fn projects(&self) -> Result<Vec<ProjectName>, StoreError>;

    /// Creates the session or replaces its metadata; its messages stay. Errors: `Invalid` for an invalid name.
    fn put_session(&self, session: &Session) -> Result<(), StoreError>;

    /// Returns the session `id`. Errors: `NotFound`.
    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError>;

    /// Returns the most recently started sessions, newest first; with `task`, only sessions of that task.
    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError>;

    /// Appends `messages` to an existing session in order and returns the position of the first.
    ///
    /// The store assigns `seq` and ignores the values in `messages`. The messages of one call stay together even if
    /// others append concurrently. Errors: `NotFound`; `Stale` if the id of a message exists in the project;
    /// `Invalid` over a cap.
    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError>;

    /// Returns the messages of a session from position `from` on, in order, at most `limit`. Errors: `NotFound`.
    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// Returns the messages with these ids, each with the id of its session, in order of id. Unknown messages and
    /// messages of reverted imports are omitted. Errors: `Invalid` for too many ids.
    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError>;

    /// Returns the audit events of `record`, or of the whole project, newest first, at most `limit`. That a record
    /// was created, replaced another or lost a conflict is visible in the record and is not an event.
    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;

    /// Returns recent receipts and the delivery statistics of `records`. Errors: `Invalid` for too many ids.
    fn delivery_stats(
        &self,
        project: &ProjectName,
        newest: RecentReceipts,
        records: &[RecordId],
    ) -> Result<DeliveryStats, StoreError>;

    /// Counts what [`Store::purge`] would delete. Errors: as for it.
    fn preview_purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
    ) -> Result<PurgeReport, StoreError>;

    /// Deletes permanently, from tables, indexes, free pages and the write-ahead log. Adds an audit event with the
    /// numbers, unless the whole project is deleted. References to a deleted record dangle.
    ///
    /// The one exception to "a write never destroys". Rewrites the database: about a second for 100,000 records.
    /// Errors: `NotFound` for an unknown id or session; `Invalid` for an empty text.
    fn purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
        at: Timestamp,
        by: &str,
    ) -> Result<PurgeReport, StoreError>;

    /// Counts the texts without a vector of `model` and returns at most `limit` of them.
    ///
    /// The built-in model has no backlog. Errors: `Invalid` for an invalid name or a limit over the cap.
    fn embedding_backlog(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<EmbeddingBacklog, StoreError>;

    /// Returns the vectors of a model by record, each with the length 1; records without one are missing.
    ///
    /// The vectors have 8 bits a number. Errors: `Invalid` for an invalid name or too many records.
    fn model_vectors(
        &self,
        project: &ProjectName,
        model: &str,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<f32>>, StoreError>;

    /// Stores vectors of a model. Returns false, and stores nothing, if the index was rebuilt since the ordinals were
    /// read.
    ///
    /// The first vectors of a model replace those of the previous one; an empty batch of the built-in model deletes
    /// them. Storing the same vectors again changes nothing. Errors: `Invalid` over a cap, for an unknown ordinal, or
    /// for a vector that has no direction or another length than the stored ones of this model.
    fn store_vectors(
        &self,
        project: &ProjectName,
        vectors: &VectorBatch,
    ) -> Result<bool, StoreError>;

    /// Returns what a store on a database server has in addition; `None` for a store that one machine uses.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }

    /// Describes the store.
    fn describe(&self) -> Result<Description, StoreError>;

    /// Checks the integrity of the store and returns one line for each finding; none if it is sound. Reads
    /// everything: some seconds for a million records. Errors: `Damaged` if it cannot be read at all.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Writes a consistent backup to `file`, a single private file, and describes it.
    ///
    /// Writers continue meanwhile. The backup is checked before it gets its name. Errors: `Invalid` if `file` is the
    /// store itself, a store in use, or a file that is not a Heirloom database; `Io` for a symbolic link.
    fn backup(&self, file: &Path) -> Result<Description, StoreError>;
}

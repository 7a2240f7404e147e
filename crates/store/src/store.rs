//! The [`Store`] trait: storage of records, sessions and messages.

use crate::SharedStore;
use crate::receipts::{DeliveryStats, RecentReceipts};
use crate::search::{SearchQuery, SearchResults};
use crate::{AppliedChange, Change, EmbeddingBacklog, Filter, StoreError, VectorBatch};
use heirloom_model::{
    Event, Kind, Message, ProjectName, Record, RecordId, Session, Timestamp, ValidityGap,
};
use std::collections::HashMap;
use std::path::Path;
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

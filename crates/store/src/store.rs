//! The narrow waist: what every store can do.

use crate::receipts::{Newest, Receipt, Told};
use crate::search::{Found, Search};
use crate::{Filter, NewVectors, StoreError, Unembedded};
use heirloom_model::{
    Batch, Event, Kind, Lapse, Mark, Merge, Message, ProjectName, Record, RecordId, Session,
    Timestamp,
};
use std::path::Path;

/// One change to the records of a project.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Write `record`. If it has a key and a current record of the same kind, category and key exists,
    /// `merge` decides what becomes of the two; else it is created.
    ///
    /// The moment of the change is the record's `recorded_at`, or just behind that of the record that it
    /// meets if a clock went back: nothing is retired before it was recorded. A holder of the identity that has expired by
    /// then is retired in favour of the newcomer, which counts as created. A record that is already retired
    /// is written as a part of the past: it has no identity and meets nobody. `Stale` if its id exists; but by
    /// [`Merge::Keep`] what is here stays, also under its id, and comes back if the import that brought it had
    /// been taken back.
    Put {
        /// The newcomer.
        record: Box<Record>,
        /// The rule for meeting the current record.
        merge: Merge,
    },
    /// Write `record` in the place of `id`, which must be current. The two may differ in key and category,
    /// not in kind. `Stale` if `id` is not current, or if another current record has the new identity.
    Revise {
        /// The current record.
        id: RecordId,
        /// Its successor.
        record: Box<Record>,
    },
    /// Retire the record `id` without a successor. `Stale` if it is retired already.
    Retire {
        /// The record.
        id: RecordId,
        /// When.
        at: Timestamp,
        /// Who does it.
        by: String,
    },
    /// Make the retired record `id` current again, with what it said when it was retired. Whatever current
    /// record holds its identity, or stands at the end of its chain, is retired in its favour, so that
    /// restoring the one that was retired takes the change back. The time in between stays known: a question
    /// about it does not find the record. `Stale` if it is not retired, or has expired meanwhile.
    Restore {
        /// The record.
        id: RecordId,
        /// When.
        at: Timestamp,
        /// Who does it.
        by: String,
    },
    /// Decide for `keep` between what two sources say. It is current, or lost an open conflict against the
    /// current record of its chain: then it takes its place, as by `Restore`. Whatever else is open in the
    /// chain is arbitrated at this time, and nothing of it disputed any more. `Stale` if nothing is open, if
    /// `keep` has no part in it, or if the chain has no current record.
    Settle {
        /// What holds from now on.
        keep: RecordId,
        /// When.
        at: Timestamp,
        /// Who decides.
        by: String,
    },
    /// Take back the decision for `id`, which is current by it: what was open is open again, and what was
    /// current before is current again. `Stale` if something else happened to it since, confirmations aside.
    Unsettle {
        /// The record that was decided for.
        id: RecordId,
        /// When.
        at: Timestamp,
        /// Who does it.
        by: String,
    },
    /// Lay `mark` over the attributes of the current record `id`, which stays in its place. What takes its place
    /// later is pinned and muted as it was. `Unchanged` if it says so already; `Stale` if it is not current.
    Mark {
        /// The record.
        id: RecordId,
        /// What is said of it.
        mark: Mark,
        /// When.
        at: Timestamp,
        /// Who says so.
        by: String,
    },
    /// What the changes behind this one in the same call create belongs to this batch, which comes into being
    /// with the first thing that it brings; further calls may bring more of it.
    Begin(Batch),
    /// Write the session unless it is here already. One whose import was taken back comes back.
    TakeSession(Box<Session>),
    /// Append the message to the session unless its id is in the project already; the store gives `seq`.
    /// One whose import was taken back comes back. `NotFound` without the session.
    TakeMessage {
        /// The session.
        session: String,
        /// The message.
        message: Box<Message>,
    },
    /// Write that the record was not current for a time, if it came with this batch; else nothing, as what is
    /// here stays as it is.
    TakeLapse {
        /// The record.
        id: RecordId,
        /// The time.
        lapse: Lapse,
    },
    /// Keep the receipt of a context, in the place of the oldest when there are [`heirloom_model::limits::RECEIPTS_KEPT`], and count
    /// its records that are here as told. The one change that power which fails may take back, whole, if nothing else
    /// was written in the same call: whoever waits for a prompt waits for no disk.
    Keep(Box<Receipt>),
    /// Take the batch back as one: what it brought and is still current is retired, its sessions and messages
    /// are no longer seen. The same again brings back what it retired, except records whose identity somebody
    /// else has taken meanwhile. `NotFound` if there is no such batch.
    Reverse {
        /// The batch.
        batch: RecordId,
        /// When.
        at: Timestamp,
        /// Who does it.
        by: String,
    },
}

/// What is to be deleted for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// These records with everything that they replaced and that replaced them.
    Records(Vec<RecordId>),
    /// Every record, and the content of every message, that contains this text, whatever its case; and the text
    /// wherever else it stands: a session that is called so, and the column of whatever else says it.
    Containing(String),
    /// The session, its messages, and the records of its scope.
    Session(String),
    /// The whole project.
    Project,
}

/// What was deleted, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Records, past ones included.
    pub records: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages; one in the midst of a session that stays keeps its place, emptied.
    pub messages: u64,
    /// What was deleted may still stand in free pages or in the journal: another process reads from before, or
    /// the disk is full. The same purge again sweeps them.
    pub residue: bool,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A new record.
    Created,
    /// The current record said the same and was confirmed.
    Confirmed,
    /// A new record took the place of an older one.
    Replaced,
    /// The newcomer lost against another source's value, or waits for a decision, and is kept as history.
    Conflict,
    /// Nothing was written: the current record already says it.
    Unchanged,
    /// The record is no longer current.
    Retired,
    /// The record is current again.
    Restored,
    /// Somebody decided that the record holds.
    Resolved,
    /// A decision was taken back; the record is the one that held before it.
    Reopened,
    /// The record was pinned or muted, or was said to be useful or not.
    Marked,
}

impl Verdict {
    /// Its name in JSON.
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

/// The answer to one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The record that the change is about: the one that was written, or the current one that was
    /// confirmed or left as it is, or whose lapse was taken. The message of a `TakeMessage`; the receipt of a `Keep`; the batch of `Begin`, `Reverse` and
    /// `TakeSession` (the smallest id outside of a batch).
    pub id: RecordId,
    /// What became of it.
    pub verdict: Verdict,
    /// The other record: who was replaced, who won the conflict, who was retired by a restore or a decision (the end of
    /// the chain, if the holder of the identity is another one).
    pub other: Option<RecordId>,
}

/// Current records by kind; kinds without any are left out.
pub type Counts = Vec<(Kind, u64)>;

/// What a store says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// `sqlite` and where, or `sqlite (memory)`.
    pub location: String,
    /// The schema's version.
    pub schema_version: u32,
    /// Bytes on disk, journals included.
    pub size_bytes: u64,
}

/// Keeps records, sessions and messages of many projects, for many processes at once.
///
/// Promises that hold for every method: it is atomic; when it returns an error nothing of it took
/// effect; when a write returns `Ok` it survives `kill -9` and power loss; a reader sees every write that
/// was acknowledged before the reader began. Projects come into being with their first write; reading an
/// unknown project finds nothing. Implementations are checked by [`crate::conformance`].
pub trait Store: Send + Sync {
    /// Carries out `changes` in order, all or none, with one sync; one answer each, in the same order.
    ///
    /// Later changes see earlier ones. Errors: `Invalid` over a cap; `NotFound` and `Stale` as each change
    /// says. An empty slice writes nothing.
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError>;

    /// The record `id`, current or not. Errors: `NotFound`.
    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError>;

    /// The ids that begin with `prefix` (hexadecimal, case and hyphens ignored), oldest first, at most
    /// `limit`; none for what is not hexadecimal.
    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError>;

    /// The records that `filter` asks for, in its order. Errors: `Invalid` for a limit over the cap.
    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError>;

    /// How many records `filter` asks for, up to its limit. Errors: as for [`Store::find`].
    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError>;

    /// The items of the index that `search` is nearest to.
    ///
    /// Every acknowledged write is in the index. The same question gives the same answer, in the same order.
    /// Errors: `Invalid` for an `each` over the cap.
    fn search(&self, project: &ProjectName, search: &Search) -> Result<Found, StoreError>;

    /// The chain of records that `id` belongs to, oldest first by id, which is by the clock of whoever wrote: those that it replaced, itself, and
    /// those that replaced it, and what lost against one of them. Errors: `NotFound`.
    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError>;

    /// The times during which these records were not current although they were brought back, in order of id
    /// and time. Errors: `Invalid` for too many ids.
    fn lapses(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Lapse)>, StoreError>;

    /// How many records of each kind are current at `now`.
    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError>;

    /// Every project that was ever written to, by name.
    fn projects(&self) -> Result<Vec<ProjectName>, StoreError>;

    /// Creates the session or replaces what is known of it; its messages stay. Errors: `Invalid` for a name
    /// that cannot be used.
    fn put_session(&self, session: &Session) -> Result<(), StoreError>;

    /// The session `id`. Errors: `NotFound`.
    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError>;

    /// The newest sessions by start, newest first, of one task if it is named.
    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError>;

    /// Appends `messages` to an existing session in order and returns the place of the first.
    ///
    /// The store gives `seq`; what the messages carry there is ignored. The messages of one call stay
    /// together, whoever else appends. Errors: `NotFound`; `Stale` if a message's id exists in the project;
    /// `Invalid` over a cap.
    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError>;

    /// The messages of a session from place `from` on, in order, at most `limit`. Errors: `NotFound`.
    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// The messages with these ids and the sessions that they belong to, in order of id. What is not there, or
    /// belongs to an import that was taken back, is left out. Errors: `Invalid` for too many ids.
    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError>;

    /// What happened to the record `record`, or to the whole project, newest first, at most `limit`. What a
    /// record says of itself is no event: that it was created, replaced another or lost a conflict.
    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;

    /// The newest receipts of contexts, so many and so much of them, and how often these records were told. Errors: `Invalid`
    /// for too many ids.
    fn told(
        &self,
        project: &ProjectName,
        newest: Newest,
        records: &[RecordId],
    ) -> Result<Told, StoreError>;

    /// What [`Store::purge`] would delete. Errors: as for it.
    fn purgeable(&self, project: &ProjectName, selection: &Selection)
    -> Result<Purged, StoreError>;

    /// Deletes for good, from tables, indexes, free pages and the journal; leaves an event that says how much,
    /// unless the whole project goes. What pointed to a deleted record points nowhere.
    ///
    /// The one exception to "a write never destroys". Rewrites the database: a second for 100,000 records.
    /// Errors: `NotFound` for an id or a session that is not there; `Invalid` for an empty text.
    fn purge(
        &self,
        project: &ProjectName,
        selection: &Selection,
        at: Timestamp,
        by: &str,
    ) -> Result<Purged, StoreError>;

    /// What lacks a vector of `model`, which no vector of another one stands for; at most `limit` of it as texts.
    ///
    /// Of the built-in model nothing does. Errors: `Invalid` for a name that cannot be used or a limit over the cap.
    fn unembedded(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<Unembedded, StoreError>;

    /// Keeps vectors of a model; says `false`, and keeps nothing, if the index was built anew since they were
    /// asked for.
    ///
    /// Those of another model are gone with the first of this one, or with none of the built-in model. The same
    /// once more changes nothing. Errors: `Invalid` over a cap, for an ordinal that is not there, or a vector that
    /// has no direction or another length than those that are kept of this model.
    fn embed(&self, project: &ProjectName, vectors: &NewVectors) -> Result<bool, StoreError>;

    /// What the store says of itself.
    fn describe(&self) -> Result<Description, StoreError>;

    /// Looks for damage; one line for each finding, none if the store is whole. Reads everything: some
    /// seconds for a million records. Errors: `Damaged` if it cannot even be searched.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Writes a consistent copy of everything to `file`, which is one private file that needs nothing beside
    /// it, and says what it is.
    ///
    /// Writers go on meanwhile. The copy is checked before it takes its name. Errors: `Invalid` for a place
    /// that a copy may not take: the store itself, a store in use, a file that is no Heirloom database; `Io`
    /// for a symbolic link.
    fn backup(&self, file: &Path) -> Result<Description, StoreError>;
}

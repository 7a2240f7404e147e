//! The store in SQLite: one file for one person or machine, or memory for tests.
//!
//! One connection a store, behind a lock; other processes open the same file. The journal is a write-ahead
//! log that is synced once for each acknowledged write, so that readers and a writer never wait for each
//! other, and writers wait for one another in turn.

mod apply;
mod backup;
mod batches;
mod codec;
mod connect;
mod copies;
mod counting;
mod disputes;
mod events;
mod examine;
mod failure;
mod find;
mod history;
mod index;
mod inspect;
mod journal;
mod migrate;
mod open;
mod purge;
mod receipts;
mod rekey;
mod replace;
mod restore;
mod salvage;
mod sessions;
mod shared;
mod watch;

use crate::{
    Applied, Change, Counts, Description, Filter, Found, NewVectors, Purged, Search, Selection,
    Store, StoreError, Teller, Told, Unembedded, caps,
};
pub use copies::{CopyReason, StoredCopy};
pub use examine::Examination;
pub use restore::{Repaired, Restored};
pub use salvage::Salvaged;

use failure::Failure;
use heirloom_model::{
    Event, Lapse, Message, ProjectName, Record, RecordId, Session, Timestamp, limits,
};
use open::{Access, Opened};
use rusqlite::{Connection, TransactionBehavior};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use watch::Watch;

/// Prepared statements that a connection keeps: every fixed one and the usual questions.
const STATEMENTS_CACHED: usize = 64;

/// A [`Store`] in one SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    connection: Mutex<Connection>,
    access: Access,
    watch: Option<Watch>,
    wait_ms: u64,
    matrices: Mutex<index::Matrices>,
    words: Mutex<index::Words>,
}

/// Most times that a database is opened again because another took its place meanwhile.
const OPENED_TIMES_MAX: usize = 10;

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In this file.
    File(PathBuf),
    /// In memory, gone with the store.
    Memory,
}

impl Place {
    fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory => PathBuf::from(":memory:"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite {}", path.display()),
            Self::Memory => f.write_str("sqlite (memory)"),
        }
    }
}

impl SqliteStore {
    /// Opens the database at `path`; makes it, private to its owner (0600), if there is no such file.
    ///
    /// Any number of processes may do so at once: one makes it, all open it. The folder must exist.
    /// Errors: those of [`SqliteStore::open`] but `Missing`.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::opened(path, || open::create(path, migrate::MIGRATIONS))
    }

    /// Opens the database at `path`, which must exist; never makes one.
    ///
    /// An older schema is brought up to date, after the file was copied beside itself as
    /// `<name>.before-v<N>-<time>`. Errors: `Missing`; `Newer`; `Damaged` if it is empty or no Heirloom
    /// database; `Io` if it is a folder, a symbolic link or not readable. None of them changes the file.
    ///
    /// Where the file that processes share cannot be made beside it, a full disk opens for one process at a
    /// time, and a folder that may not be written to be read: writes fail with `ReadOnly`. Such a reader may
    /// not be used while another process, with more rights, writes.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_telling(path, &Teller::silent())
    }

    /// The same, and tells how far it is where the schema is an older one.
    pub fn open_telling(path: &Path, teller: &Teller) -> Result<Self, StoreError> {
        Self::opened(path, || open::open(path, migrate::MIGRATIONS, teller))
    }

    /// A fresh store in memory, gone when it is dropped.
    pub fn memory() -> Result<Self, StoreError> {
        open::memory(migrate::MIGRATIONS).map(Self::new)
    }

    /// Looks at the database at `path` from end to end and changes nothing, not even when it is damaged.
    ///
    /// Errors are those of [`SqliteStore::open`], but an older version is none and stays as it is.
    pub fn examine(path: &Path) -> Result<Examination, StoreError> {
        examine::examine(path)
    }

    /// Puts the content of the copy `from` in the place of the database at `live`, whose state before is kept.
    ///
    /// The copy is brought up to date and checked first; whatever is wrong with it leaves `live` untouched. In
    /// a sound database the content is replaced, in one transaction, for every process that has it open; a
    /// damaged or missing one is set aside, journal included. Afterwards old copies are removed. Errors:
    /// those of [`SqliteStore::open`] for either file, `Refused` if both are the same.
    pub fn restore(live: &Path, from: &Path, now: Timestamp) -> Result<Restored, StoreError> {
        Self::restore_telling(live, from, now, &Teller::silent())
    }

    /// The same, and tells how far it is where the copy's schema is an older one.
    pub fn restore_telling(
        live: &Path,
        from: &Path,
        now: Timestamp,
        teller: &Teller,
    ) -> Result<Restored, StoreError> {
        restore::restore(live, from, now, teller)
    }

    /// Repairs the database at `live`: builds broken indexes anew, else recovers the readable rows into a
    /// new database and sets the damaged one aside.
    ///
    /// The new one is built and checked beside the old one before it takes its place. No other connection of
    /// this process may have it open. `hint` is the project's name, in case that it was lost. Errors:
    /// `Missing`, `Newer`, `Busy`; `Damaged` if nothing can be read: then nothing is changed.
    pub fn repair(
        live: &Path,
        hint: Option<&ProjectName>,
        now: Timestamp,
    ) -> Result<Repaired, StoreError> {
        restore::repair(live, hint, now)
    }

    /// The copies beside the database at `live`, oldest first.
    pub fn copies(live: &Path) -> Result<Vec<StoredCopy>, StoreError> {
        copies::copies(live)
    }

    /// Removes the copies beside `live` that have been kept for long enough at `now`, and names them.
    pub fn remove_old_copies(live: &Path, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
        copies::remove_old(live, now)
    }

    /// Opens until the file that has the name afterwards is the one that was opened.
    fn opened(
        path: &Path,
        open: impl Fn() -> Result<Opened, StoreError>,
    ) -> Result<Self, StoreError> {
        for _ in 0..OPENED_TIMES_MAX {
            let before = watch::identity(path);
            let store = open().map(Self::new)?;
            if before.is_none() || watch::identity(path) == before {
                return Ok(store);
            }
        }
        Err(StoreError::Replaced(path.to_owned()))
    }

    fn new(opened: Opened) -> Self {
        Self {
            watch: opened.look.map(Watch::over),
            place: opened.place,
            connection: Mutex::new(opened.connection),
            access: opened.access,
            wait_ms: limits::BUSY_TIMEOUT_MS,
            matrices: Mutex::default(),
            words: Mutex::default(),
        }
    }

    /// The same store, which gives up with `Busy` after `wait_ms` where another process holds the database.
    pub fn waiting_at_most(mut self, wait_ms: u64) -> Result<Self, StoreError> {
        let told = connect::wait_at_most(&mut self.lock(), wait_ms);
        told.map_err(|failure| failure.at(&self.place))?;
        self.wait_ms = wait_ms;
        Ok(self)
    }

    fn error(&self, failure: Failure) -> StoreError {
        let mut error = failure.at(&self.place);
        if let StoreError::Busy { waited_ms } = &mut error {
            *waited_ms = self.wait_ms;
        }
        error
    }

    /// The connection. One that was left by a panic is sound: its transaction was rolled back on the way.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        (self.connection.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        question(&self.lock()).map_err(|failure| self.error(failure))
    }

    /// As [`SqliteStore::write`], but power that fails may take the write back, whole: nothing is synced, neither now
    /// nor when the store is closed, where nothing else was written.
    fn write_without_sync<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        let mut connection = self.lock();
        let done = connect::unsynced(&mut connection, |connection| {
            self.transact(connection, work)
        });
        done.map_err(|failure| self.error(failure))
    }

    /// Carries `work` out in one transaction, which takes the write lock before it reads anything: a
    /// transaction that began as a reader could not wait for another writer, only fail.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        let mut connection = self.lock();
        let done =
            connect::fold_on_close(&connection).and_then(|()| self.transact(&mut connection, work));
        done.map_err(|failure| self.error(failure))
    }

    fn transact<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        // With the lock in hand: whoever replaces the file holds it meanwhile.
        if let Some(watch) = &self.watch {
            watch.check()?;
        }
        transaction.commit()?;
        if let Some(watch) = &self.watch {
            watch.remember_length();
        }
        Ok(done)
    }
}

impl Store for SqliteStore {
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        caps::changes(project, changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let work = |connection: &Connection| apply::apply(connection, project, changes);
        if changes
            .iter()
            .all(|change| matches!(change, Change::Keep(_)))
        {
            return self.write_without_sync(work);
        }
        self.write(work)
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.read(|connection| apply::get(connection, project, id))
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        caps::limit("ids_with_prefix", limit)?;
        self.read(|connection| history::ids_with_prefix(connection, project, prefix, limit))
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        caps::filter(filter)?;
        self.read(|connection| find::find(connection, project, filter))
    }

    fn search(&self, project: &ProjectName, search: &Search) -> Result<Found, StoreError> {
        caps::limit("hits", search.each)?;
        self.read(|connection| {
            // One state of the index from its totals to its last block.
            let snapshot = connection.unchecked_transaction()?;
            let found = index::search(&snapshot, project, search, &self.matrices, &self.words)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| history::history(connection, project, id))
    }

    fn lapses(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Lapse)>, StoreError> {
        caps::ids(ids)?;
        self.read(|connection| history::lapses(connection, project, ids))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError> {
        self.read(|connection| history::counts(connection, project, now))
    }

    fn last_write(&self, project: &ProjectName) -> Result<Option<Timestamp>, StoreError> {
        self.read(|connection| history::last_write(connection, project))
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.read(history::projects)
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        caps::session(session)?;
        self.write(|connection| sessions::put(connection, session))
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.read(|connection| sessions::get(connection, project, id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        caps::limit("sessions", limit)?;
        self.read(|connection| sessions::list(connection, project, task, limit))
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        caps::messages(messages)?;
        self.write(|connection| sessions::append(connection, project, session, messages))
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        caps::limit("messages", limit)?;
        self.read(|connection| sessions::messages(connection, project, session, from, limit))
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        caps::ids(ids)?;
        self.read(|connection| sessions::turns(connection, project, ids))
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        caps::events(limit)?;
        self.read(|connection| events::list(connection, project, record, limit))
    }

    fn told(
        &self,
        project: &ProjectName,
        newest: usize,
        records: &[RecordId],
    ) -> Result<Told, StoreError> {
        caps::ids(records)?;
        caps::limit("told", newest)?;
        self.read(|connection| receipts::told(connection, project, newest, records))
    }

    fn purgeable(
        &self,
        project: &ProjectName,
        selection: &Selection,
    ) -> Result<Purged, StoreError> {
        caps::selection(selection)?;
        self.read(|connection| purge::count(connection, project, selection))
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &Selection,
        at: Timestamp,
        by: &str,
    ) -> Result<Purged, StoreError> {
        caps::selection(selection)?;
        let mut purged =
            self.write(|connection| purge::purge(connection, project, selection, at, by))?;
        // The deletion is done and acknowledged whatever becomes of the sweep.
        purged.residue = self.read(purge::sweep).unwrap_or(true);
        Ok(purged)
    }

    fn unembedded(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<Unembedded, StoreError> {
        caps::model(model)?;
        caps::limit("unembedded", limit)?;
        self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let found = index::unembedded(&snapshot, project, model, limit)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn embed(&self, project: &ProjectName, vectors: &NewVectors) -> Result<bool, StoreError> {
        caps::vectors(vectors)?;
        self.write(|connection| index::embed(connection, project, vectors))
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.read(|connection| inspect::describe(connection, &self.place))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            // One moment for all tables, whatever others write meanwhile.
            let snapshot = connection.unchecked_transaction()?;
            let findings = inspect::check(&snapshot)?;
            snapshot.rollback()?;
            Ok(findings)
        })
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        backup::backup(self, file)
    }
}

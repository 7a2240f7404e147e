//! The store in SQLite: one file for one person or machine, or memory for tests.
//!
//! One connection a store that writes, behind a lock, and more that read when threads ask at the same time; other
//! processes open the same file. The journal is a write-ahead log that is synced once for each acknowledged write, or
//! once for those of many threads, so that readers and a writer never wait for each other, and writers wait for one
//! another in turn.

mod apply;
mod backup;
mod batches;
mod carrier;
mod codec;
mod connect;
mod copies;
mod counted;
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
mod queue;
mod readers;
mod receipts;
mod rekey;
mod replace;
mod restore;
mod salvage;
mod sessions;
mod shared;
mod verbs;
mod watch;
mod write;

use crate::{StoreError, Teller};
pub use copies::{CopyReason, StoredCopy};
pub use examine::Examination;
pub use restore::{Repaired, Restored};
pub use salvage::Salvaged;

use carrier::Carrier;
use failure::Failure;
use heirloom_model::{ProjectName, Timestamp, limits};
use open::{Access, Opened};
use queue::Queue;
use readers::Readers;
use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use watch::Watch;

/// Prepared statements that a connection keeps: every fixed one and the usual questions.
const STATEMENTS_CACHED: usize = 64;

/// A [`Store`](crate::Store) in one SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    /// Before the connection that writes: who closes last decides what becomes of the journal.
    readers: Option<Readers>,
    /// From the first time on that several threads write at once.
    carrier: OnceLock<Option<Carrier>>,
    connection: Mutex<Connection>,
    queue: Queue,
    access: Access,
    leaves_journal: bool,
    watch: Option<Watch>,
    wait_ms: u64,
    kept: index::Kept,
    counted: counted::Counted,
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
            readers: Readers::of(&opened),
            carrier: OnceLock::new(),
            watch: opened.look.map(Watch::over),
            place: opened.place,
            connection: Mutex::new(opened.connection),
            queue: Queue::default(),
            access: opened.access,
            leaves_journal: false,
            wait_ms: limits::BUSY_TIMEOUT_MS,
            kept: index::Kept::default(),
            counted: counted::Counted::default(),
        }
    }

    /// The same store, which gives up with `Busy` after `wait_ms` where another process holds the database.
    pub fn waiting_at_most(mut self, wait_ms: u64) -> Result<Self, StoreError> {
        let told = connect::wait_at_most(&mut self.lock(), wait_ms);
        told.map_err(|failure| failure.at(&self.place))?;
        self.wait_ms = wait_ms;
        Ok(self)
    }

    /// The same store, which leaves a short journal where it is when it is closed, an empty one too. What was written
    /// is synced all the same; whoever opens the database next reads the journal, and whoever writes much carries it
    /// over. For processes that ask or write once and are waited for: carrying over takes two syncs more, and making
    /// and removing the journal's files a tenth of a question. What they read they read once, so few pages are kept:
    /// memory that was never touched costs more than reading a page again.
    #[must_use]
    pub fn leaving_short_journal(mut self) -> Self {
        self.leaves_journal = true;
        // Without them the process only takes more memory and time.
        drop(connect::keep_few_pages(&self.lock()));
        drop(connect::leave_short_journal(&self.lock()));
        self
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

    /// The connection, if no other thread has it.
    fn try_lock(&self) -> Option<MutexGuard<'_, Connection>> {
        match self.connection.try_lock() {
            Ok(connection) => Some(connection),
            Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Asks whichever connection is free, so that nobody waits for another thread's question or sync.
    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if let Some(connection) = self.try_lock() {
            return question(&connection).map_err(|failure| self.error(failure));
        }
        match self.readers.as_ref().and_then(Readers::take) {
            Some(reader) => question(&reader).map_err(|failure| self.error(failure)),
            None => self.with_own(question),
        }
    }

    /// Does `work` with the connection that writes.
    fn with_own<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        work(&self.lock()).map_err(|failure| self.error(failure))
    }
}

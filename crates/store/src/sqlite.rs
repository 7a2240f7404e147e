//! SQLite implementation of the store: one database file for a user or machine, or an in-memory database for tests.
//!
//! Each store has one writing connection behind a lock, and a pool of reading connections for concurrent threads;
//! other processes open the same file. The database is in WAL mode: each acknowledged write, or each group commit of
//! several threads, is synced once. Readers and a writer never block each other, and writers take turns.

mod backup;
mod busy_backoff;
mod connection;
mod database_files;
mod database_location;
mod error_conversion;
mod file_format;
mod foreign_database;
mod integrity;
mod migrate;
mod open;
mod project_locations;
mod reader_pool;
mod recovery;
mod retained_backups;
mod schema_version;
mod store_impl;
mod write;

use crate::relational::index::ProjectCache;
use crate::relational::write::group_commit::CommitQueue;
use crate::{ProgressSink, StoreError, sql};
pub use foreign_database::{ForeignDatabase, ForeignDatabaseError};
pub use project_locations::{ProjectLocation, ProjectSummary, ProjectSurvey};
pub use recovery::offline_check::OfflineCheckReport;
pub use recovery::restore::{RepairOutcome, RestoreOutcome};
pub use recovery::salvage::{SalvageReport, SkippedRow};
pub use retained_backups::{BackupReason, RetainedBackup};

use crate::sql::failure::Failure;
use connection::Access;
use database_files::file_guard::FileGuard;
use database_files::file_identity::file_identity;
use database_location::DatabaseLocation;
use heirloom_model::{ProjectName, Timestamp, limits};
use open::OpenedDatabase;
use reader_pool::ReaderPool;
use recovery::{offline_check, restore};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use write::maintenance::MaintenanceThread;

/// A [`Store`](crate::Store) in one SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    place: DatabaseLocation,
    /// Declared before the writing connection, so that it is closed first: the last connection to close decides
    /// whether the write-ahead log is checkpointed.
    readers: Option<ReaderPool>,
    /// Started when several threads write at once for the first time.
    maintenance: OnceLock<Option<MaintenanceThread>>,
    connection: Mutex<Connection>,
    pub(crate) commit_queue: CommitQueue,
    access: Access,
    is_short_lived: bool,
    file_guard: Option<FileGuard>,
    busy_timeout_ms: u64,
    cache: ProjectCache,
}

/// Maximum number of attempts to open a database that another process replaces meanwhile.
const OPEN_ATTEMPTS_MAX: usize = 10;

impl SqliteStore {
    /// Opens the database at `path`; creates it with mode 0600 if it does not exist.
    ///
    /// Any number of processes may do so at once: one creates it, all open it. The folder must exist. Errors: those
    /// of [`SqliteStore::open`] but `Missing`.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::open_stable(path, || open::create(path, schema_version::MIGRATIONS))
    }

    /// Opens the existing database at `path`; never creates one.
    ///
    /// An older schema is migrated, after the file was backed up next to itself as `<name>.before-v<N>-<time>`.
    /// Errors: `Missing`; `Newer`; `Damaged` if the file is empty or not a Heirloom database; `Io` if it is a folder,
    /// a symbolic link or not readable. None of them changes the file.
    ///
    /// If SQLite's shared-memory file (`-shm`) cannot be created, the database is opened with restrictions: on a full
    /// disk exclusively, in a folder without write permission read-only (writes fail with `ReadOnly`). Such a
    /// read-only store must not be used while another process, with more permissions, writes.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with_progress(path, &ProgressSink::silent())
    }

    /// Opens as [`SqliteStore::open`] does and reports the progress of a migration to `teller`.
    pub fn open_with_progress(path: &Path, progress: &ProgressSink) -> Result<Self, StoreError> {
        Self::open_stable(path, || {
            open::open(path, schema_version::MIGRATIONS, progress)
        })
    }

    /// Creates an in-memory store, gone when it is dropped.
    pub fn memory() -> Result<Self, StoreError> {
        open::memory(schema_version::MIGRATIONS).map(Self::new)
    }

    /// Checks the database file at `path` completely without changing it, even if it is damaged.
    ///
    /// Errors: those of [`SqliteStore::open`]. An older schema is accepted and not migrated.
    pub fn check_offline(path: &Path) -> Result<OfflineCheckReport, StoreError> {
        offline_check::check(path)
    }

    /// Replaces the content of the database at `live` by that of the backup `from`; the previous state is retained as
    /// a backup.
    ///
    /// The backup is migrated and checked first; on any error `live` is unchanged. In a sound database the content is
    /// replaced in one transaction, for every process that has it open. A damaged database is renamed, together with
    /// its journal, and a new one is created. Afterwards expired backups are removed. Errors: those of
    /// [`SqliteStore::open`] for either file; `Refused` if both are the same.
    pub fn restore(live: &Path, from: &Path, now: Timestamp) -> Result<RestoreOutcome, StoreError> {
        Self::restore_with_progress(live, from, now, &ProgressSink::silent())
    }

    /// Restores as [`SqliteStore::restore`] does and reports the progress of a migration of the backup.
    pub fn restore_with_progress(
        live: &Path,
        from: &Path,
        now: Timestamp,
        progress: &ProgressSink,
    ) -> Result<RestoreOutcome, StoreError> {
        restore::restore(live, from, now, progress)
    }

    /// Repairs the database at `live`: rebuilds broken indexes, or else salvages the readable rows into a new
    /// database and renames the damaged one.
    ///
    /// The new database is built and checked before it takes the place of the old one. No other connection of this
    /// process may be open. `hint` is the name of the project in case it cannot be read. Errors: `Missing`, `Newer`,
    /// `Busy`; `Damaged` if nothing can be read, in which case nothing is changed.
    pub fn repair(
        live: &Path,
        hint: Option<&ProjectName>,
        now: Timestamp,
    ) -> Result<RepairOutcome, StoreError> {
        restore::repair(live, hint, now)
    }

    /// Lists the retained backups next to the database at `live`, oldest first.
    pub fn retained_backups(live: &Path) -> Result<Vec<RetainedBackup>, StoreError> {
        retained_backups::list(live)
    }

    /// Removes the retained backups of `live` that have expired at `now`, and returns their paths.
    pub fn remove_expired_backups(live: &Path, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
        retained_backups::remove_expired(live, now)
    }

    /// Opens the database and retries until the file was not replaced meanwhile.
    fn open_stable(
        path: &Path,
        open: impl Fn() -> Result<OpenedDatabase, StoreError>,
    ) -> Result<Self, StoreError> {
        for _ in 0..OPEN_ATTEMPTS_MAX {
            let before = file_identity(path);
            let store = open().map(Self::new)?;
            if before.is_none() || file_identity(path) == before {
                return Ok(store);
            }
        }
        Err(StoreError::Replaced(path.to_owned()))
    }

    fn new(opened: OpenedDatabase) -> Self {
        Self {
            readers: ReaderPool::of(&opened),
            maintenance: OnceLock::new(),
            file_guard: opened.shm.map(FileGuard::new),
            place: opened.place,
            connection: Mutex::new(opened.connection),
            commit_queue: CommitQueue::default(),
            access: opened.access,
            is_short_lived: false,
            busy_timeout_ms: limits::BUSY_TIMEOUT_MS,
            cache: ProjectCache::default(),
        }
    }

    /// Configures the store for a short-lived process: skips the checkpoint on close if the write-ahead log is short,
    /// and uses a 256 KiB page cache.
    ///
    /// Writes are synced all the same; the next process reads the log, and one that writes much checkpoints it.
    /// Skipping the checkpoint saves two syncs, and creating and removing the log files takes a tenth of a query.
    /// First-touch page faults of a larger cache cost more than re-reading pages.
    #[must_use]
    pub fn with_short_lived_mode(mut self) -> Self {
        self.is_short_lived = true;
        // Errors are ignored: without these settings the process only uses more memory and time.
        drop(connection::shrink_page_cache(&self.lock()));
        drop(connection::skip_close_checkpoint_if_short(&self.lock()));
        self
    }

    fn error(&self, failure: Failure) -> StoreError {
        let mut error = failure.at(&self.place);
        if let StoreError::Busy { waited_ms } = &mut error {
            *waited_ms = self.busy_timeout_ms;
        }
        error
    }

    /// Locks the writing connection. A poisoned lock is safe: the panic rolled its transaction back.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        (self.connection.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the writing connection if no other thread holds it.
    fn try_lock(&self) -> Option<MutexGuard<'_, Connection>> {
        match self.connection.try_lock() {
            Ok(connection) => Some(connection),
            Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Runs a query on a free connection, so that it does not wait for the query or sync of another thread.
    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if let Some(connection) = self.try_lock() {
            return question(&connection).map_err(|failure| self.error(failure));
        }
        match self.readers.as_ref().and_then(ReaderPool::acquire) {
            Some(reader) => question(&reader).map_err(|failure| self.error(failure)),
            None => self.with_writer(question),
        }
    }

    /// Runs queries on one snapshot.
    pub(crate) fn read_rows<T>(
        &self,
        work: impl FnOnce(sql::Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let found = work((&*snapshot).into())?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    /// Runs a write in one transaction.
    pub(crate) fn write_rows<T>(
        &self,
        work: impl FnOnce(sql::Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.write(|connection| work(connection.into()))
    }

    /// Runs `work` on the writing connection.
    fn with_writer<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        work(&self.lock()).map_err(|failure| self.error(failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filter, Store};

    impl SqliteStore {
        /// Sets the busy timeout: how long an operation waits for other processes before it fails with `Busy`.
        fn with_busy_timeout(mut self, wait_ms: u64) -> Self {
            connection::set_busy_timeout(&mut self.lock(), wait_ms).unwrap();
            self.busy_timeout_ms = wait_ms;
            self
        }
    }

    #[test]
    fn busy_timeout_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heirloom.db");
        let store = SqliteStore::create(&path).unwrap().with_busy_timeout(50);
        let project = ProjectName::new("p").unwrap();
        let filter = Filter::current(&[], Timestamp::UNIX_EPOCH);
        let theirs = Connection::open(&path).unwrap();
        theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
        let put = |id: &str| {
            let session = heirloom_model::Session {
                project: project.clone(),
                id: id.to_owned(),
                agent: None,
                task: None,
                started_at: Timestamp::UNIX_EPOCH,
                ended_at: None,
                attrs: heirloom_model::record::Attrs::new(),
            };
            store.put_session(&session)
        };
        let refused = put("s").unwrap_err();
        assert!(
            matches!(refused, StoreError::Busy { waited_ms: 50 }),
            "{refused:?}"
        );
        let fault = heirloom_model::Fault::from(refused);
        assert!(
            fault.message.contains("another process held the database"),
            "{}",
            fault.message
        );
        assert!(fault.hint.is_some());
        assert_eq!(
            store.find(&project, &filter).unwrap(),
            [],
            "a reader does not wait"
        );
        theirs.execute_batch("ROLLBACK").unwrap();
        put("s").unwrap();
        assert_eq!(store.session(&project, "s").unwrap().id, "s");
    }
}

//! Replacement of a damaged or missing database by a new one.

use super::offline_check::read_and_keep_open;
use super::salvage;
use crate::StoreError;
use crate::migration_progress::ProgressSink;
use crate::sql::failure::Failure;
use crate::sqlite::connection::connect_without_checkpoint;
use crate::sqlite::database_files::shm_reader::ShmHandle;
use crate::sqlite::database_files::wal_check;
use crate::sqlite::database_files::wal_frames::LogEnd;
use crate::sqlite::database_location::{DatabaseLocation, with_suffix};
use crate::sqlite::retained_backups::format_time;
use crate::sqlite::schema_version::{self, MIGRATIONS};
use crate::sqlite::{backup, connection, integrity, migrate};
use heirloom_fs::durable;
use heirloom_model::{ProjectName, Timestamp, limits};
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Suffixes of the log files that belong to a database.
const JOURNAL: [&str; 2] = ["-wal", "-shm"];

/// Damaged database, locked against other writers as far as its damage allows.
pub(super) struct LockedDatabase {
    live: PathBuf,
    /// Connection with the write lock; `None` if the damage prevents locking.
    lock: Option<Connection>,
    main: Vec<u8>,
    journal: Vec<u8>,
    /// End of the log according to the WAL index, read before SQLite opens the database and overwrites it.
    known: Option<LogEnd>,
    /// Kept open, because closing one would release the locks that this process holds on it.
    files: Vec<File>,
    /// Kept open for the same reason.
    _shm: ShmHandle,
}

impl Drop for LockedDatabase {
    fn drop(&mut self) {
        self.lock = None;
        self.files.clear();
    }
}

impl LockedDatabase {
    /// Locks the database at `live`, which may be missing, and reads it. Errors: `Busy`; `Invalid` if it is too large
    /// to be salvaged.
    pub(super) fn open(live: &Path) -> Result<Self, StoreError> {
        let mut locked = Self::unlocked(live)?;
        locked.lock()?;
        locked.read()?;
        Ok(locked)
    }

    /// Reads the database at `live` without a lock: SQLite does not open it, so the evidence that its log is damaged
    /// is preserved.
    pub(super) fn read_unlocked(live: &Path) -> Result<Self, StoreError> {
        let mut locked = Self::unlocked(live)?;
        locked.read()?;
        Ok(locked)
    }

    /// Locks a database that was already read; returns true if it has changed since. Errors: `Busy`; `Invalid`.
    pub(super) fn relock(&mut self) -> Result<bool, StoreError> {
        self.lock()?;
        let before = (
            std::mem::take(&mut self.main),
            std::mem::take(&mut self.journal),
        );
        self.read()?;
        Ok(before.0 != self.main || before.1 != self.journal)
    }

    /// Locks and reads a database that will not be salvaged, so it may have any size.
    pub(super) fn lock_any_size(live: &Path) -> Result<Self, StoreError> {
        let mut locked = Self::unlocked(live)?;
        locked.lock()?;
        match locked.read() {
            Ok(()) | Err(StoreError::Invalid(_)) => Ok(locked),
            Err(error) => Err(error),
        }
    }

    fn unlocked(live: &Path) -> Result<Self, StoreError> {
        durable::refuse_symlink("replace", live)?;
        let shm = ShmHandle::new(live);
        Ok(Self {
            live: live.to_owned(),
            lock: None,
            main: Vec::new(),
            journal: Vec::new(),
            known: wal_check::log_end(&shm),
            _shm: shm,
            files: Vec::new(),
        })
    }

    fn lock(&mut self) -> Result<(), StoreError> {
        let place = DatabaseLocation::File(self.live.clone());
        let locked = connect_without_checkpoint(&place).and_then(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            Ok(connection)
        });
        match locked.map_err(|failure| failure.at(&place)) {
            Ok(connection) => self.lock = Some(connection),
            Err(busy @ StoreError::Busy { .. }) => return Err(busy),
            // The file is damaged, and a file that cannot be locked cannot be written either.
            Err(_) => {}
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), StoreError> {
        let most = limits::SALVAGE_BYTES_MAX;
        let wal = with_suffix(&self.live, "-wal");
        for (path, bytes) in [(&self.live, &mut self.main), (&wal, &mut self.journal)] {
            self.files.extend(read_and_keep_open(path, most, bytes)?);
        }
        Ok(())
    }

    fn image(&self) -> salvage::PageImage<'_> {
        salvage::PageImage::new(&self.main, &self.journal, self.known.as_ref())
    }

    /// Salvages the readable rows into a new database next to it.
    pub(super) fn salvage(
        &self,
        hint: Option<&ProjectName>,
    ) -> Result<(NamedTempFile, salvage::SalvageReport), StoreError> {
        let scratch = durable::create_scratch_file(&self.live)?;
        let place = DatabaseLocation::File(self.live.clone());
        let recovered = || -> Result<salvage::SalvageReport, Failure> {
            let mut connection = Connection::open(scratch.path())?;
            connection.execute_batch(
                "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY",
            )?;
            let image = self.image();
            let salvaged = salvage::recover(&image, &mut connection, hint)?;
            connection::ensure_wal_mode(&connection)?;
            connection
                .close()
                .map_err(|(_, error)| Failure::from(error))?;
            Ok(salvaged)
        };
        let salvaged = recovered().map_err(|failure| failure.at(&place))?;
        Ok((scratch, salvaged))
    }

    /// Moves `fresh` to the path of the old database and returns the paths of the retained old files, log included.
    ///
    /// At every step `live` has the old content or the new one. The order matters, because a log applies to any
    /// database with its name: the old log must be gone before the new database gets the name. Before that, its
    /// content is merged into the old database, of which an untouched copy is retained by then.
    pub(super) fn replace(
        self,
        fresh: NamedTempFile,
        now: Timestamp,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let live = &self.live;
        let mut retained = Vec::new();
        let suffix = format!("damaged-{}", format_time(now));
        let main_copy = durable::link_with_suffix(live, &suffix)?;
        let has_journal = with_suffix(live, "-wal")
            .metadata()
            .is_ok_and(|found| found.len() > 0);
        for end in JOURNAL {
            let part = with_suffix(live, end);
            // An empty log is left by any process that opened the database.
            if part.exists() && has_journal {
                retained.push(durable::link_as(&part, &with_suffix(&main_copy, end))?);
            }
        }
        if main_copy.exists() {
            retained.insert(0, main_copy);
        }
        if let Some(folded) = salvage::merge_journal(&self.image())
            && live.exists()
        {
            durable::write_atomic(live, &folded)?;
        }
        for end in JOURNAL {
            durable::remove_if_exists(&with_suffix(live, end))?;
        }
        durable::sync_folder_of(live)?;
        durable::persist(fresh, live)?;
        Ok(retained)
    }
}

/// Prepares a migrated and checked copy of the database `from` next to `live`. Returns it with the schema version of
/// the original.
pub(super) fn prepare_copy(
    live: &Path,
    from: &Path,
    progress: &ProgressSink,
) -> Result<(NamedTempFile, u32), StoreError> {
    let scratch = durable::create_scratch_file(live)?;
    let place = DatabaseLocation::File(from.to_owned());
    let prepare = || -> Result<u32, Failure> {
        let has_journal = ["-wal", "-journal"]
            .iter()
            .any(|end| with_suffix(from, end).exists());
        if has_journal {
            let shm = ShmHandle::new(from);
            wal_check::check(&shm)?;
            let source = connect_without_checkpoint(&place)?;
            wal_check::check_recovered(&shm, &source)?;
            schema_version::supported_version(&source, &place, MIGRATIONS)?;
            backup::copy(&source, scratch.path())?;
        } else {
            let is_database = backup::is_database(from);
            if !is_database.map_err(|error| durable::failed("read", from, error))? {
                return Err(Failure::Damaged("file is not a database".to_owned()));
            }
            durable::copy_into(from, scratch.as_file())?;
        }
        let mut connection =
            connection::connect(&DatabaseLocation::File(scratch.path().to_owned()))?;
        let version = migrate::migrate_exclusive(&mut connection, &place, MIGRATIONS, progress)?;
        if let Some(finding) = integrity::check(&connection)?.first() {
            return Err(Failure::Damaged(finding.clone()));
        }
        connection::ensure_wal_mode(&connection)?;
        connection
            .close()
            .map_err(|(_, error)| Failure::from(error))?;
        Ok(version)
    };
    let version = prepare().map_err(|failure| failure.at(&place))?;
    Ok((scratch, version))
}

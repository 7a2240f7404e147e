//! File identity guard: detects that a file of an open database was removed or replaced.
//!
//! A process can go on writing to a file that no longer has a name, and these writes are lost. So each write checks
//! before it is acknowledged, which costs two `stat` calls.

use super::file_identity::{FileIdentity, file_identity, metadata_identity};
use super::shm_reader::ShmHandle;
use super::wal_check;
use crate::StoreError;
use crate::relational::index::ContentStamp;
use crate::sql::failure::Failure;
use crate::sqlite::database_location::{DatabaseLocation, wal_path};
use crate::sqlite::error_conversion::damaged;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identity of the files of one database.
#[derive(Debug)]
pub(in crate::sqlite) struct FileGuard {
    shm: ShmHandle,
    file: FileIdentity,
    journal_path: PathBuf,
    /// Set by the first write, because from then on the log exists and stays while the connection is open.
    journal: OnceLock<FileIdentity>,
    /// Length of the log after the last write, bytes.
    journal_length: AtomicU64,
}

impl FileGuard {
    /// Creates a guard for the database of this handle.
    pub(in crate::sqlite) fn new(shm: ShmHandle) -> Self {
        Self {
            file: file_identity(shm.path()),
            journal_path: wal_path(shm.path()),
            shm,
            journal: OnceLock::new(),
            journal_length: AtomicU64::new(0),
        }
    }

    /// Fails if a file is not the one that was opened. Must be called inside a write transaction.
    pub(in crate::sqlite) fn check(&self) -> Result<(), Failure> {
        let found = self.shm.path().metadata();
        let problem = match (&found, metadata_identity(self.shm.path(), &found)) {
            (Err(_), _) => "it was removed while it was in use",
            (Ok(_), now) if now != self.file => {
                return Err(StoreError::Replaced(self.shm.path().to_owned()).into());
            }
            (Ok(found), _) if found.len() == 0 => "it was emptied while it was in use",
            (Ok(_), _) => {
                let journal = self.journal_path.metadata();
                let now = metadata_identity(&self.journal_path, &journal);
                if *self.journal.get_or_init(|| now) == now {
                    return self.check_length(journal.map_or(0, |found| found.len()));
                }
                "its journal was removed or replaced while it was in use"
            }
        };
        let place = DatabaseLocation::File(self.shm.path().to_owned());
        Err(damaged(&place, problem.to_owned()).into())
    }

    /// Checks a log that became shorter. Another process may have checkpointed and truncated it; then the WAL index
    /// is consistent with it.
    fn check_length(&self, length: u64) -> Result<(), Failure> {
        if length < self.journal_length.load(Ordering::Relaxed) {
            return wal_check::check(&self.shm);
        }
        Ok(())
    }

    /// Returns the state of the database, if the shared-memory file has it.
    pub(in crate::sqlite) fn stamp(&self) -> Option<ContentStamp> {
        wal_check::stamp(&self.shm)
    }

    /// Stores the length of the log after a write.
    pub(in crate::sqlite) fn remember_length(&self) {
        let length = self.journal_path.metadata().map_or(0, |found| found.len());
        self.journal_length.store(length, Ordering::Relaxed);
    }
}

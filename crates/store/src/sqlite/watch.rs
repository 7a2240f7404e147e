//! Whether the files of an open database are still the ones that were opened.
//!
//! A process goes on writing into a file that somebody has removed or replaced, and what it writes there is
//! lost: so each write looks before it is acknowledged. It costs two questions to the system.

use super::failure::{Failure, damaged};
use super::shared::Look;
use super::{Place, journal, open};
use crate::StoreError;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file's identity on this machine; none if there is no such file.
pub(super) type Identity = Option<(u64, u64)>;

/// The files of one database.
#[derive(Debug)]
pub(super) struct Watch {
    look: Look,
    file: Identity,
    journal_path: PathBuf,
    /// Known from the first write on, when it is there for certain and stays while the connection lives.
    journal: OnceLock<Identity>,
    /// Its length after the last write, bytes.
    journal_length: AtomicU64,
}

impl Watch {
    /// Watches the database that is looked at.
    pub(super) fn over(look: Look) -> Self {
        Self {
            file: identity(look.path()),
            journal_path: open::journal_of(look.path()),
            look,
            journal: OnceLock::new(),
            journal_length: AtomicU64::new(0),
        }
    }

    /// Fails if a file is not the one that was opened. Called inside a transaction that writes.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let found = self.look.path().metadata();
        let problem = match (&found, identity_of(&found)) {
            (Err(_), _) => "it was removed while it was in use",
            (Ok(_), now) if now != self.file => {
                return Err(StoreError::Replaced(self.look.path().to_owned()).into());
            }
            (Ok(found), _) if found.len() == 0 => "it was emptied while it was in use",
            (Ok(_), _) => {
                let journal = self.journal_path.metadata();
                if *self.journal.get_or_init(|| identity_of(&journal)) == identity_of(&journal) {
                    return self.check_length(journal.map_or(0, |found| found.len()));
                }
                "its journal was removed or replaced while it was in use"
            }
        };
        let place = Place::File(self.look.path().to_owned());
        Err(damaged(&place, problem.to_owned()).into())
    }

    /// A journal may become shorter, when another process carries it over and cuts it: then the index that
    /// they share says so.
    fn check_length(&self, length: u64) -> Result<(), Failure> {
        if length < self.journal_length.load(Ordering::Relaxed) {
            return journal::check(&self.look);
        }
        Ok(())
    }

    /// The state of the database, where what processes share tells it.
    pub(super) fn stamp(&self) -> Option<journal::Stamp> {
        journal::stamp(&self.look)
    }

    /// Notes how long the journal is after a write.
    pub(super) fn remember_length(&self) {
        let length = self.journal_path.metadata().map_or(0, |found| found.len());
        self.journal_length.store(length, Ordering::Relaxed);
    }
}

/// The file that has this name now.
pub(super) fn identity(path: &Path) -> Identity {
    identity_of(&path.metadata())
}

pub(super) fn identity_of(found: &io::Result<Metadata>) -> Identity {
    let found = found.as_ref().ok()?;
    Some((found.dev(), found.ino()))
}

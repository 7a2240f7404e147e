//! Putting a whole database in the place of a damaged or missing one.

use super::backup::beside;
use super::connect::connect_untouched;
use super::copies::stamp;
use super::examine::read_whole;
use super::failure::Failure;
use super::{Place, migrate, salvage};
use crate::upgrade::Teller;
use crate::{StoreError, durable};
use heirloom_model::{ProjectName, Timestamp, limits};
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The files of a journal, which go with their database.
const JOURNAL: [&str; 2] = ["-wal", "-shm"];

/// A damaged database that nobody else writes to while this lives, as far as its damage allows.
pub(super) struct Held {
    live: PathBuf,
    /// Holds the write lock; none if the damage does not even allow that.
    lock: Option<Connection>,
    pub(super) main: Vec<u8>,
    pub(super) journal: Vec<u8>,
    /// Closing one of these would drop the locks that this process has on the file, so they stay open.
    files: Vec<File>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lock = None;
        self.files.clear();
    }
}

impl Held {
    /// Takes hold of the database at `live`, which may be missing, and reads it. Errors: `Busy`; `Invalid` if
    /// it is too large to be recovered.
    pub(super) fn of(live: &Path) -> Result<Self, StoreError> {
        let mut held = Self::locked(live)?;
        held.read()?;
        Ok(held)
    }

    /// The same for one of which nothing is to be recovered: it may be of any size.
    pub(super) fn of_any_size(live: &Path) -> Result<Self, StoreError> {
        let mut held = Self::locked(live)?;
        match held.read() {
            Ok(()) | Err(StoreError::Invalid(_)) => Ok(held),
            Err(error) => Err(error),
        }
    }

    fn locked(live: &Path) -> Result<Self, StoreError> {
        durable::refuse_symlink("replace", live)?;
        let place = Place::File(live.to_owned());
        let locked = connect_untouched(&place).and_then(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            Ok(connection)
        });
        let lock = match locked.map_err(|failure| failure.at(&place)) {
            Ok(connection) => Some(connection),
            Err(busy @ StoreError::Busy { .. }) => return Err(busy),
            // It is damaged, and what cannot be locked cannot be written to either.
            Err(_) => None,
        };
        Ok(Self {
            live: live.to_owned(),
            lock,
            main: Vec::new(),
            journal: Vec::new(),
            files: Vec::new(),
        })
    }

    fn read(&mut self) -> Result<(), StoreError> {
        let most = limits::SALVAGE_BYTES_MAX;
        let wal = beside(&self.live, "-wal");
        for (path, bytes) in [(&self.live, &mut self.main), (&wal, &mut self.journal)] {
            self.files.extend(read_whole(path, most, bytes)?);
        }
        Ok(())
    }

    /// Recovers what can be read into a new database beside it.
    pub(super) fn recover(
        &self,
        hint: Option<&ProjectName>,
    ) -> Result<(NamedTempFile, salvage::Salvaged), StoreError> {
        let scratch = durable::scratch(&self.live)?;
        let place = Place::File(self.live.clone());
        let recovered = || -> Result<salvage::Salvaged, Failure> {
            let mut connection = Connection::open(scratch.path())?;
            connection.execute_batch(
                "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY",
            )?;
            let salvaged = salvage::recover(&self.main, &self.journal, &mut connection, hint)?;
            super::connect::keep_journal(&connection)?;
            connection
                .close()
                .map_err(|(_, error)| Failure::Sql(error))?;
            Ok(salvaged)
        };
        let salvaged = recovered().map_err(|failure| failure.at(&place))?;
        Ok((scratch, salvaged))
    }

    /// Puts `fresh` in its place and returns where the old one is kept, journal included.
    ///
    /// Wherever this stops, what is at `live` is the old content or the new one. The order matters: a journal
    /// belongs to whatever database stands beside it, so the old one must be gone before the new database
    /// takes its place; before it goes, what it holds is carried over into the old database, of which an
    /// untouched copy is kept by then.
    pub(super) fn replace(
        self,
        fresh: NamedTempFile,
        now: Timestamp,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let live = &self.live;
        let mut kept = Vec::new();
        let suffix = format!("damaged-{}", stamp(now));
        let aside = durable::keep_beside(live, &suffix)?;
        let has_journal = beside(live, "-wal")
            .metadata()
            .is_ok_and(|found| found.len() > 0);
        for end in JOURNAL {
            let part = beside(live, end);
            // One that says nothing is left by whoever looked at the database.
            if part.exists() && has_journal {
                kept.push(durable::keep_as(&part, &beside(&aside, end))?);
            }
        }
        if aside.exists() {
            kept.insert(0, aside);
        }
        if let Some(folded) = salvage::folded(&self.main, &self.journal)
            && live.exists()
        {
            durable::write_atomic(live, &folded)?;
        }
        for end in JOURNAL {
            durable::remove_if_there(&beside(live, end))?;
        }
        durable::sync_folder_of(live)?;
        durable::settle(fresh, live)?;
        Ok(kept)
    }
}

/// A copy of the database `from`, at the newest version and checked, beside `live`; and the version that it
/// had.
pub(super) fn prepared(
    live: &Path,
    from: &Path,
    teller: &Teller,
) -> Result<(NamedTempFile, u32), StoreError> {
    let scratch = durable::scratch(live)?;
    let place = Place::File(from.to_owned());
    let prepare = || -> Result<u32, Failure> {
        let has_journal = ["-wal", "-journal"]
            .iter()
            .any(|end| beside(from, end).exists());
        if has_journal {
            let source = connect_untouched(&place)?;
            migrate::version_of_ours(&source, &place, migrate::MIGRATIONS)?;
            super::backup::copy(&source, scratch.path())?;
        } else {
            durable::copy_into(from, scratch.as_file())?;
        }
        let mut connection = super::connect::connect(&Place::File(scratch.path().to_owned()))?;
        let version =
            migrate::bring_up_alone(&mut connection, &place, migrate::MIGRATIONS, teller)?;
        if let Some(finding) = super::inspect::check(&connection)?.first() {
            return Err(Failure::Damaged(finding.clone()));
        }
        super::connect::keep_journal(&connection)?;
        connection
            .close()
            .map_err(|(_, error)| Failure::Sql(error))?;
        Ok(version)
    };
    let version = prepare().map_err(|failure| failure.at(&place))?;
    Ok((scratch, version))
}

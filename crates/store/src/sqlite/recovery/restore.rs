//! Restore from a backup, and repair of a damaged database.

use super::database_replacement::{LockedDatabase, prepare_copy};
use super::{offline_check, salvage};
use crate::StoreError;
use crate::migration_progress::ProgressSink;
use crate::relational::index;
use crate::sql::failure::Failure;
use crate::sqlite::backup::{self, RowCounts, is_part_of};
use crate::sqlite::database_files::database_path::existing_path;
use crate::sqlite::database_files::shm_reader::ShmHandle;
use crate::sqlite::database_location::DatabaseLocation;
use crate::sqlite::retained_backups::{self, format_time};
use crate::sqlite::{connection, integrity};
use heirloom_fs::durable;
use heirloom_model::text::EscapedPath;
use heirloom_model::{ProjectName, Timestamp};
use rusqlite::Connection;
use rusqlite::backup::Backup;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreOutcome {
    /// Retained backup of the previous state; `None` if there was none. A damaged database may consist of several
    /// files, of which this is the main one.
    pub previous: Option<PathBuf>,
    /// True if the previous state was damaged.
    pub was_damaged: bool,
    /// Schema version of the backup.
    pub schema_version: u32,
    /// Row counts by table after the restore.
    pub rows: RowCounts,
    /// Expired backups that were removed.
    pub removed: Vec<PathBuf>,
}

/// Result of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The database is sound; nothing was changed.
    Sound,
    /// The indexes were rebuilt.
    Reindexed,
    /// The readable rows were salvaged into a new database.
    Recovered {
        /// Paths of the retained damaged files, log included.
        retained: Vec<PathBuf>,
        /// Report of the salvage.
        salvaged: salvage::SalvageReport,
    },
}

/// Replaces the database at `live` by the content of `from`.
pub(in crate::sqlite) fn restore(
    live: &Path,
    from: &Path,
    now: Timestamp,
    progress: &ProgressSink,
) -> Result<RestoreOutcome, StoreError> {
    let live = absolute(live)?;
    let from = existing_path(from)?;
    durable::refuse_symlink("replace", &live)?;
    if is_part_of(&live, &from) {
        let what = format!("{} is the store itself", from.to_escaped());
        return Err(StoreError::Refused(what));
    }
    let (replacement, schema_version) = prepare_copy(&live, &from, progress)?;
    let is_sound = match offline_check::check(&live) {
        Ok(found) => found.is_sound(),
        Err(StoreError::Damaged { .. } | StoreError::Missing(_)) => false,
        Err(error) => return Err(error),
    };
    let (previous, was_damaged) = if is_sound {
        (
            Some(restore_in_place(&live, replacement.path(), now)?),
            false,
        )
    } else {
        let was_damaged = live.exists();
        let retained = LockedDatabase::lock_any_size(&live)?.replace(replacement, now)?;
        (retained.into_iter().next(), was_damaged)
    };
    index::remove_sidecars(&live);
    let place = DatabaseLocation::File(live.clone());
    let rows =
        connection::connect(&place).and_then(|connection| integrity::row_counts(&connection));
    Ok(RestoreOutcome {
        previous,
        was_damaged,
        schema_version,
        rows: rows.map_err(|failure| failure.at(&place))?,
        removed: retained_backups::remove_expired(&live, now)?,
    })
}

/// Replaces the content of the sound database at `live` in one transaction, so that every process that has it open
/// sees the new content. The previous content is backed up first.
fn restore_in_place(
    live: &Path,
    replacement: &Path,
    now: Timestamp,
) -> Result<PathBuf, StoreError> {
    let place = DatabaseLocation::File(live.to_owned());
    let suffix = format!("before-restore-{}", format_time(now));
    let mut retained = None;
    let mut done = || -> Result<(), Failure> {
        let source = Connection::open(replacement)?;
        let mut target = connection::connect(&place)?;
        let backup = Backup::new(&source, &mut target)?;
        // Takes the write lock without copying anything, so that no process writes between the backup and the new
        // content.
        backup.step(0)?;
        retained = Some(backup::copy_with_suffix(&place, &suffix)?);
        backup::finish(&backup)
    };
    let done = done().map_err(|failure| failure.at(&place));
    match (done, retained) {
        (Ok(()), Some(copy)) => Ok(copy),
        (Ok(()), None) => Err(StoreError::Backend("no copy was made".to_owned())),
        (Err(error), copy) => {
            // Nothing was changed, so the backup is useless.
            copy.map(|copy| durable::remove_if_exists(&copy))
                .transpose()?;
            Err(error)
        }
    }
}

/// Repairs the database at `live`; see `SqliteStore::repair`.
pub(in crate::sqlite) fn repair(
    live: &Path,
    hint: Option<&ProjectName>,
    now: Timestamp,
) -> Result<RepairOutcome, StoreError> {
    let live = absolute(live)?;
    let problem = match offline_check::check(&live) {
        Ok(found) if found.is_sound() => return Ok(RepairOutcome::Sound),
        Ok(found) if found.has_only_index_damage() => {
            index::remove_sidecars(&live);
            offline_check::rebuild_search_index(&live)?;
            return Ok(RepairOutcome::Reindexed);
        }
        Ok(found) => {
            let only_indexes = found.is_index_damage_only;
            if only_indexes && found.reference_findings.is_empty() && offline_check::reindex(&live)?
            {
                return Ok(RepairOutcome::Reindexed);
            }
            found.findings().next().cloned().unwrap_or_default()
        }
        Err(StoreError::Damaged { problem, .. }) => problem,
        Err(error) => return Err(error),
    };
    let (locked, replacement, salvaged) = recover(&live, hint)?;
    if salvaged.total() == 0 && !salvaged.is_complete {
        return Err(StoreError::Damaged {
            path: live,
            problem: format!("{problem}; no row of it can be read, so nothing was changed"),
        });
    }
    index::remove_sidecars(&live);
    let retained = locked.replace(replacement, now)?;
    Ok(RepairOutcome::Recovered { retained, salvaged })
}

/// Locks the database at `live` and salvages its readable rows.
///
/// If its log is damaged, all the work is done before SQLite opens the database and overwrites the WAL index: if the
/// work fails, the damage is still detected the next time.
fn recover(
    live: &Path,
    hint: Option<&ProjectName>,
) -> Result<(LockedDatabase, NamedTempFile, salvage::SalvageReport), StoreError> {
    let is_of_journal = offline_check::is_journal_damaged(&ShmHandle::new(live));
    if is_of_journal {
        let mut locked = LockedDatabase::read_unlocked(live)?;
        let (replacement, salvaged) = locked.salvage(hint)?;
        if !locked.relock()? {
            return Ok((locked, replacement, salvaged));
        }
        let (replacement, salvaged) = locked.salvage(hint)?;
        return Ok((locked, replacement, salvaged));
    }
    let locked = LockedDatabase::open(live)?;
    let (replacement, salvaged) = locked.salvage(hint)?;
    Ok((locked, replacement, salvaged))
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    Ok(std::path::absolute(path).map_err(|error| durable::failed("use", path, error))?)
}

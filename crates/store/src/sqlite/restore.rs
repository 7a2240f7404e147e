//! Going back to a copy, and repairing a damaged database.

use super::backup::{self, Counts, is_of};
use super::copies::{self, stamp};
use super::failure::Failure;
use super::replace::{Held, prepared};
use super::{Place, connect, examine, index, inspect, salvage};
use crate::upgrade::Teller;
use crate::{StoreError, durable};
use heirloom_model::{ProjectName, Timestamp};
use rusqlite::Connection;
use rusqlite::backup::Backup;
use std::path::{Path, PathBuf};

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the state before is kept; none if there was none. A damaged one may be several files, of which
    /// this is the database.
    pub previous: Option<PathBuf>,
    /// Whether the state before was damaged.
    pub was_damaged: bool,
    /// The version of the schema that the copy had.
    pub schema_version: u32,
    /// Rows by table, as they are now.
    pub rows: Counts,
    /// Copies that were old enough to go.
    pub removed: Vec<PathBuf>,
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repaired {
    /// Nothing: the database is sound.
    Sound,
    /// The indexes were built anew.
    Reindexed,
    /// Readable rows were recovered into a new database.
    Recovered {
        /// Where the damaged one is kept, journal included.
        kept: Vec<PathBuf>,
        /// What was recovered.
        salvaged: salvage::Salvaged,
    },
}

/// Puts the content of `from` in the place of what is at `live`.
pub(super) fn restore(
    live: &Path,
    from: &Path,
    now: Timestamp,
    teller: &Teller,
) -> Result<Restored, StoreError> {
    let live = absolute(live)?;
    let from = super::open::existing(from)?;
    durable::refuse_symlink("replace", &live)?;
    if is_of(&live, &from) {
        let what = format!("{} is the store itself", from.display());
        return Err(StoreError::Refused(what));
    }
    let (fresh, schema_version) = prepared(&live, &from, teller)?;
    let is_sound = match examine::examine(&live) {
        Ok(found) => found.is_sound(),
        Err(StoreError::Damaged { .. } | StoreError::Missing(_)) => false,
        Err(error) => return Err(error),
    };
    let (previous, was_damaged) = if is_sound {
        (Some(within(&live, fresh.path(), now)?), false)
    } else {
        let was_damaged = live.exists();
        let kept = Held::of_any_size(&live)?.replace(fresh, now)?;
        (kept.into_iter().next(), was_damaged)
    };
    index::forget_copies(&live);
    let place = Place::File(live.clone());
    let rows = connect::connect(&place).and_then(|connection| inspect::row_counts(&connection));
    Ok(Restored {
        previous,
        was_damaged,
        schema_version,
        rows: rows.map_err(|failure| failure.at(&place))?,
        removed: copies::remove_old(&live, now)?,
    })
}

/// Replaces the content of the sound database at `live` in one transaction, so that every process that has
/// it open sees the new one; what was there before is copied first.
fn within(live: &Path, fresh: &Path, now: Timestamp) -> Result<PathBuf, StoreError> {
    let place = Place::File(live.to_owned());
    let suffix = format!("before-restore-{}", stamp(now));
    let mut kept = None;
    let mut done = || -> Result<(), Failure> {
        let source = Connection::open(fresh)?;
        let mut target = connect::connect(&place)?;
        let backup = Backup::new(&source, &mut target)?;
        // Takes the lock and copies nothing yet: nobody writes between the copy and the new content.
        backup.step(0)?;
        kept = Some(backup::copy_beside(&place, &suffix)?);
        backup::finish(&backup)
    };
    let done = done().map_err(|failure| failure.at(&place));
    match (done, kept) {
        (Ok(()), Some(copy)) => Ok(copy),
        (Ok(()), None) => Err(StoreError::Backend("no copy was made".to_owned())),
        (Err(error), copy) => {
            // Nothing was changed: the copy says nothing new.
            copy.map(|copy| durable::remove_if_there(&copy))
                .transpose()?;
            Err(error)
        }
    }
}

/// Repairs the database at `live`, as `SqliteStore::repair` says.
pub(super) fn repair(
    live: &Path,
    hint: Option<&ProjectName>,
    now: Timestamp,
) -> Result<Repaired, StoreError> {
    let live = absolute(live)?;
    let problem = match examine::examine(&live) {
        Ok(found) if found.is_sound() => return Ok(Repaired::Sound),
        Ok(found) if found.is_sound_but_for_the_index() => {
            index::forget_copies(&live);
            examine::index_anew(&live)?;
            return Ok(Repaired::Reindexed);
        }
        Ok(found) => {
            let only_indexes = found.only_indexes;
            if only_indexes && found.references.is_empty() && examine::reindex(&live)? {
                return Ok(Repaired::Reindexed);
            }
            found.findings().next().cloned().unwrap_or_default()
        }
        Err(StoreError::Damaged { problem, .. }) => problem,
        Err(error) => return Err(error),
    };
    let held = Held::of(&live)?;
    let (fresh, salvaged) = held.recover(hint)?;
    if salvaged.total() == 0 && !salvaged.is_complete {
        return Err(StoreError::Damaged {
            path: live,
            problem: format!("{problem}; no row of it can be read, so nothing was changed"),
        });
    }
    index::forget_copies(&live);
    let kept = held.replace(fresh, now)?;
    Ok(Repaired::Recovered { kept, salvaged })
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| durable::failed("use", path, error))
}

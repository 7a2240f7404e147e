//! The schema's versions, and how a database gets from one to the next.
//!
//! A migration that was released is never edited: a change of the schema is the next file.

use super::failure::Failure;
use super::{Place, open};
use crate::{StoreError, durable};
use heirloom_model::{Clock, SystemClock};
use rusqlite::backup::Backup;
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `Heir`: tells our databases from any other SQLite file.
const APPLICATION_ID: u32 = 0x4865_6972;

/// One step of the schema: the SQL that leads to the version that is its place in the list, from 1.
pub(super) type Migration = &'static str;

/// Every step.
pub(super) const MIGRATIONS: &[Migration] = &[include_str!("../../migrations/0001_records.sql")];

/// The schema's version of an open database.
pub(super) fn version(connection: &Connection) -> Result<u32, Failure> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// The newest version in `known`.
pub(super) fn newest(known: &[Migration]) -> u32 {
    u32::try_from(known.len()).unwrap_or(u32::MAX)
}

/// Lays the whole schema into a fresh database.
pub(super) fn lay_out(connection: &mut Connection, known: &[Migration]) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    carry_out(&transaction, 0, known)?;
    transaction.commit()?;
    Ok(())
}

/// Checks that the file is ours and of a version in `known`, and brings an older one up to date.
///
/// An older one is copied beside itself first. All steps are one transaction: when one fails the database
/// stays as it was. Of many processes one migrates, the others wait and find it done.
pub(super) fn bring_up(
    connection: &mut Connection,
    place: &Place,
    known: &[Migration],
) -> Result<(), Failure> {
    let found = version_of_ours(connection, place, known)?;
    if found == newest(known) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version_of_ours(&transaction, place, known)?;
    if found < newest(known) {
        if let Place::File(path) = place {
            copy_aside(path, newest(known))?;
        }
        carry_out(&transaction, found, known)?;
    }
    transaction.commit()?;
    Ok(())
}

/// The version, from 1 to the newest in `known`.
fn version_of_ours(
    connection: &Connection,
    place: &Place,
    known: &[Migration],
) -> Result<u32, Failure> {
    let id: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found = version(connection)?;
    if id != APPLICATION_ID || found == 0 {
        return Err(Failure::Damaged("it is no Heirloom database".to_owned()));
    }
    if found > newest(known) {
        return Err(Failure::Store(StoreError::Newer {
            path: place.path(),
            found,
            known: newest(known),
        }));
    }
    Ok(found)
}

fn carry_out(connection: &Connection, from: u32, known: &[Migration]) -> Result<(), Failure> {
    for (version, migration) in (1_u32..).zip(known) {
        if version > from {
            connection.execute_batch(migration)?;
            connection.pragma_update(None, "user_version", version)?;
        }
    }
    Ok(())
}

/// Copies the database to `<name>.before-v<N>-<time>`, journal included, and syncs the copy.
///
/// Reads through a connection of its own: the caller's holds the write lock, so that nothing changes
/// meanwhile.
fn copy_aside(path: &Path, to: u32) -> Result<PathBuf, Failure> {
    let time = SystemClock.now().strftime("%Y%m%dT%H%M%SZ");
    let copy = durable::claim_beside(path, &format!("before-v{to}-{time}"))?;
    let written = write_copy(path, &copy);
    if written.is_err() {
        // Half a copy would look like a whole one to whoever needs it.
        let removed = std::fs::remove_file(&copy);
        drop(removed);
    }
    written.map(|()| copy)
}

fn write_copy(path: &Path, copy: &Path) -> Result<(), Failure> {
    let source = open::connect(&Place::File(path.to_owned()))?;
    let mut target = Connection::open(copy)?;
    Backup::new(&source, &mut target)?.run_to_completion(-1, Duration::from_millis(2), None)?;
    target.close().map_err(|(_, error)| Failure::Sql(error))?;
    (std::fs::File::open(copy).and_then(|file| file.sync_all()))
        .map_err(|error| durable::failed("sync", copy, error))?;
    durable::sync_folder_of(copy)?;
    Ok(())
}

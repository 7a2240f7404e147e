//! Copies of a database while others write to it.

use super::connect::connect;
use super::failure::Failure;
use super::{Place, SqliteStore, inspect, migrate};
use crate::{Description, StoreError, durable};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What stands behind the name of a database in the files beside it.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Bytes of the header of a database.
const HEADER_BYTES: usize = 100;
/// Where the header says whose database it is.
const APPLICATION_ID_AT: usize = 68;

/// Writes a checked copy of `store` to `file`.
pub(super) fn backup(store: &SqliteStore, file: &Path) -> Result<Description, StoreError> {
    let file = std::path::absolute(file).map_err(|error| durable::failed("use", file, error))?;
    refuse(&store.place, &file)?;
    let scratch = durable::scratch(&file)?;
    let copied = match &store.place {
        // A connection of its own: other threads go on with the store's.
        Place::File(_) => connect(&store.place).and_then(|source| copy(&source, scratch.path())),
        Place::Memory => copy(&store.lock(), scratch.path()),
    };
    copied.map_err(|failure| failure.at(&store.place))?;
    // What is wrong with a fresh copy is wrong with what was copied.
    let schema_version = check(&scratch, None).map_err(|failure| failure.at(&store.place))?;
    durable::settle(scratch, &file)?;
    let size = file.metadata();
    let size = size.map_err(|error| durable::failed("look at", &file, error))?;
    Ok(Description {
        location: Place::File(file).to_string(),
        schema_version,
        size_bytes: size.len(),
    })
}

/// Copies the database behind `source`, as it is now, to the empty file at `path`, compares the number of
/// rows and makes it one file that needs nothing beside it.
///
/// In one step, which reads one state of the database from beginning to end: a copy in several would begin
/// again whenever somebody writes.
pub(super) fn copy(source: &Connection, path: &Path) -> Result<(), Failure> {
    let snapshot = source.unchecked_transaction()?;
    let wanted = inspect::row_counts(&snapshot)?;
    let mut target = Connection::open(path)?;
    // The file is synced as a whole when it is complete.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    copy_into(&snapshot, &mut target)?;
    target.close().map_err(|(_, error)| Failure::Sql(error))?;
    snapshot.rollback()?;
    let copy = Connection::open(path)?;
    alone(&copy)?;
    same_rows(&wanted, &inspect::row_counts(&copy)?)?;
    copy.close().map_err(|(_, error)| Failure::Sql(error))
}

/// Copies the database at `place`, journal included, to `<name>.<suffix>` beside it and syncs the copy, which has
/// that name only when it is whole.
///
/// Reads through a connection of its own: the caller's holds the write lock, so that nothing changes
/// meanwhile.
pub(super) fn copy_beside(place: &Place, suffix: &str) -> Result<PathBuf, Failure> {
    let path = place.path();
    let scratch = durable::scratch(&path)?;
    copy(&connect(place)?, scratch.path())?;
    Ok(durable::settle_beside(scratch, &path, suffix)?)
}

/// All pages of `source` into `target`, in one step.
pub(super) fn copy_into(source: &Connection, target: &mut Connection) -> Result<(), Failure> {
    finish(&Backup::new(source, target)?)
}

/// The rest of a copy that was begun.
pub(super) fn finish(backup: &Backup<'_, '_>) -> Result<(), Failure> {
    match backup.step(-1)? {
        StepResult::Done => Ok(()),
        StepResult::More | StepResult::Busy | StepResult::Locked | _ => {
            Err(Failure::Store(StoreError::Busy {
                waited_ms: heirloom_model::limits::BUSY_TIMEOUT_MS,
            }))
        }
    }
}

/// Makes a database one file: its journal is no file beside it any more.
fn alone(connection: &Connection) -> Result<(), Failure> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    Ok(())
}

/// Checks a copy from end to end; its version.
pub(super) fn check(copy: &NamedTempFile, wanted: Option<&Counts>) -> Result<u32, Failure> {
    let connection = Connection::open(copy.path())?;
    if let Some(finding) = inspect::integrity(&connection)?.first() {
        return Err(Failure::Damaged(finding.clone()));
    }
    if let Some(wanted) = wanted {
        same_rows(wanted, &inspect::row_counts(&connection)?)?;
    }
    let version = migrate::version(&connection)?;
    connection
        .close()
        .map_err(|(_, error)| Failure::Sql(error))?;
    Ok(version)
}

/// Rows by table.
pub(super) type Counts = BTreeMap<String, u64>;

fn same_rows(wanted: &Counts, found: &Counts) -> Result<(), Failure> {
    if wanted == found {
        return Ok(());
    }
    let problem = format!("the copy has other rows: {found:?} and not {wanted:?}");
    Err(Failure::Damaged(problem))
}

/// Refuses a place that a copy may not take.
fn refuse(live: &Place, file: &Path) -> Result<(), StoreError> {
    durable::refuse_symlink("replace", file)?;
    if let Place::File(live) = live
        && is_of(live, file)
    {
        return refused(file, "is the store itself, or a part of it");
    }
    let found = match file.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(durable::failed("look at", file, error)),
    };
    if !found.is_file() {
        return refused(file, "is no file");
    }
    if BESIDE.iter().any(|end| beside(file, end).exists()) || is_of_a_project(file) {
        return refused(file, "is a store that is in use");
    }
    match is_ours(file) {
        Ok(true) => Ok(()),
        Ok(false) => refused(file, "exists and is no Heirloom database"),
        Err(error) => Err(durable::failed("read", file, error)),
    }
}

fn refused<T>(file: &Path, why: &str) -> Result<T, StoreError> {
    Err(StoreError::Refused(format!("{} {why}", file.display())))
}

/// Whether `file` is the database at `live`, or one of the files that belong to it.
pub(super) fn is_of(live: &Path, file: &Path) -> bool {
    let parts = BESIDE.iter().map(|end| beside(live, end));
    let mut all = parts.chain([live.to_owned()]);
    all.any(|part| part == file || is_same(&part, file))
}

/// Whether two names lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let number = |found: Metadata| (found.dev(), found.ino());
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => number(one) == number(other),
        _ => false,
    }
}

/// Whether the file is where a project keeps its store, in use or not.
fn is_of_a_project(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == crate::DATABASE)
        && file.with_file_name(crate::MARKER).exists()
}

/// Whether the file begins as a database of ours.
fn is_ours(file: &Path) -> std::io::Result<bool> {
    let mut header = [0_u8; HEADER_BYTES];
    let mut file = File::open(file)?;
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    let id = migrate::APPLICATION_ID.to_be_bytes();
    let said = header.get(APPLICATION_ID_AT..APPLICATION_ID_AT + id.len());
    Ok(header.starts_with(b"SQLite format 3\0") && said == Some(&id))
}

/// The file beside a database whose name has this end.
pub(super) fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

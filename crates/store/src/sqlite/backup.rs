//! Online backup: consistent copies of a database during concurrent writes.

use super::connection::{Access, connect};
use super::database_location::DatabaseLocation;
use super::database_location::{JOURNAL_SUFFIXES, with_suffix};
use super::{SqliteStore, integrity, schema_version};
use crate::sql::failure::Failure;
use crate::{Description, StoreError};
use heirloom_fs::durable;
use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_fs::file_metadata::path_identity;
use heirloom_model::text::EscapedPath;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Size of the header of a database, bytes.
const HEADER_BYTES: usize = 100;
/// Offset of the application id in the header.
const APPLICATION_ID_AT: usize = 68;

/// Writes a checked backup of `store` to `file`.
pub(super) fn backup(store: &SqliteStore, file: &Path) -> Result<Description, StoreError> {
    let file = std::path::absolute(file).map_err(|error| durable::failed("use", file, error))?;
    check_target(&store.place, &file)?;
    let scratch = durable::create_scratch_file(&file)?;
    let copied = match (&store.place, store.access) {
        // A separate connection, so that other threads can use the store's meanwhile.
        (DatabaseLocation::File(_), Access::Full) => {
            let source = connect(&store.place).map_err(|failure| failure.at(&store.place))?;
            copy(&source, scratch.path())
        }
        // A second connection would wait for the exclusive lock of the first.
        (DatabaseLocation::File(_), Access::Exclusive | Access::ReadOnly)
        | (DatabaseLocation::Memory, _) => copy(&store.lock(), scratch.path()),
    };
    let checked = copied.and_then(|()| check(&scratch, None));
    let schema_version = checked.map_err(|failure| {
        for part in JOURNAL_SUFFIXES.map(|end| with_suffix(scratch.path(), end)) {
            // The backup error is returned; a leftover partial file does no harm.
            drop(durable::remove_if_exists(&part));
        }
        failed_copy(failure, store, &file)
    })?;
    durable::persist(scratch, &file)?;
    let size = file.metadata();
    let size = size.map_err(|error| durable::failed("look at", &file, error))?;
    Ok(Description {
        location: DatabaseLocation::File(file).to_string(),
        schema_version,
        size_bytes: size.len(),
    })
}

/// Attributes the error of a failed backup: write errors to the backup, others to the store.
fn failed_copy(failure: Failure, store: &SqliteStore, file: &Path) -> StoreError {
    let copy = DatabaseLocation::File(file.to_owned());
    let mut error = failure.at(&copy);
    if let StoreError::Damaged { path, .. } = &mut error {
        *path = store.place.path();
    }
    error
}

/// Copies the current state of the database of `source` to the empty file at `path`, compares the row counts and
/// makes it a single file without a journal.
///
/// Runs in one step, which reads one snapshot. A copy in several steps would restart after every concurrent write.
pub(super) fn copy(source: &Connection, path: &Path) -> Result<(), Failure> {
    let snapshot = source.unchecked_transaction()?;
    let expected = integrity::row_counts(&snapshot)?;
    let mut target = Connection::open(path)?;
    // The complete file is synced at the end.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    copy_into(&snapshot, &mut target)?;
    target.close().map_err(|(_, error)| Failure::from(error))?;
    snapshot.rollback()?;
    let copy = Connection::open(path)?;
    make_single_file(&copy)?;
    same_rows(&expected, &integrity::row_counts(&copy)?)?;
    copy.close().map_err(|(_, error)| Failure::from(error))
}

/// Copies the database at `place`, write-ahead log included, to `<name>.<suffix>` next to it. The copy is synced and
/// gets its name when it is complete.
///
/// Reads through a separate connection: the caller's holds the write lock, so that nothing changes meanwhile.
pub(super) fn copy_with_suffix(place: &DatabaseLocation, suffix: &str) -> Result<PathBuf, Failure> {
    let path = place.path();
    let scratch = durable::create_scratch_file(&path)?;
    copy(&connect(place)?, scratch.path())?;
    Ok(durable::persist_with_suffix(scratch, &path, suffix)?)
}

/// Copies all pages of `source` to `target` in one step.
pub(super) fn copy_into(source: &Connection, target: &mut Connection) -> Result<(), Failure> {
    finish(&Backup::new(source, target)?)
}

/// Completes a copy that was begun.
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

/// Makes a database a single file without a write-ahead log.
fn make_single_file(connection: &Connection) -> Result<(), Failure> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    Ok(())
}

/// Checks a backup completely and returns its schema version.
pub(super) fn check(copy: &NamedTempFile, expected: Option<&RowCounts>) -> Result<u32, Failure> {
    let connection = Connection::open(copy.path())?;
    if let Some(finding) = integrity::integrity(&connection)?.first() {
        return Err(Failure::Damaged(finding.clone()));
    }
    if let Some(expected) = expected {
        same_rows(expected, &integrity::row_counts(&connection)?)?;
    }
    let version = schema_version::version(&connection)?;
    connection
        .close()
        .map_err(|(_, error)| Failure::from(error))?;
    Ok(version)
}

/// Row counts by table.
pub(super) type RowCounts = BTreeMap<String, u64>;

fn same_rows(expected: &RowCounts, found: &RowCounts) -> Result<(), Failure> {
    if expected == found {
        return Ok(());
    }
    let problem = format!("the copy has other rows: {found:?} and not {expected:?}");
    Err(Failure::Damaged(problem))
}

/// Refuses a target that a backup must not overwrite.
fn check_target(live: &DatabaseLocation, file: &Path) -> Result<(), StoreError> {
    durable::refuse_symlink("replace", file)?;
    if let DatabaseLocation::File(live) = live
        && is_part_of(live, file)
    {
        return refused(file, "is the store itself, or a part of it");
    }
    let found = match file.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(durable::failed("look at", file, error).into()),
    };
    if !found.is_file() {
        return refused(file, "is not a regular file");
    }
    if JOURNAL_SUFFIXES
        .iter()
        .any(|end| with_suffix(file, end).exists())
        || is_project_store(file)
    {
        return refused(file, "is a store that is in use");
    }
    match is_heirloom_database(file) {
        Ok(true) => Ok(()),
        Ok(false) => refused(file, "exists and is not a Heirloom database"),
        Err(error) => Err(durable::failed("read", file, error).into()),
    }
}

fn refused<T>(file: &Path, why: &str) -> Result<T, StoreError> {
    Err(StoreError::Refused(format!("{} {why}", file.to_escaped())))
}

/// Returns true if `file` is the database at `live` or one of its journal files.
pub(super) fn is_part_of(live: &Path, file: &Path) -> bool {
    let parts = JOURNAL_SUFFIXES.iter().map(|end| with_suffix(live, end));
    let mut all = parts.chain([live.to_owned()]);
    all.any(|part| part == file || is_same(&part, file))
}

/// First bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Returns true if two paths lead to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let one = path_identity(one);
    one.is_some() && one == path_identity(other)
}

/// Returns true if `file` is the store of a project, in use or not.
fn is_project_store(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == crate::DATABASE)
        && file.with_file_name(crate::MARKER).exists()
}

/// Returns true if the file begins like a Heirloom database.
fn is_heirloom_database(file: &Path) -> std::io::Result<bool> {
    let Some(header) = header(file)? else {
        return Ok(false);
    };
    let id = schema_version::APPLICATION_ID.to_be_bytes();
    let application_id = header.get(APPLICATION_ID_AT..APPLICATION_ID_AT + id.len());
    Ok(header.starts_with(MAGIC) && application_id == Some(&id))
}

/// Returns true if the file begins like an SQLite database; other files are not worth a copy.
pub(super) fn is_database(file: &Path) -> std::io::Result<bool> {
    Ok(header(file)?.is_some_and(|header| header.starts_with(MAGIC)))
}

/// Reads the header of a database; `None` if the file is shorter.
fn header(file: &Path) -> std::io::Result<Option<[u8; HEADER_BYTES]>> {
    let mut header = [0_u8; HEADER_BYTES];
    let opened = regular_file::open(file, LinkPolicy::Follow);
    let mut file = opened.map_err(FileReadError::into_io_error)?.file;
    match file.read_exact(&mut header) {
        Ok(()) => Ok(Some(header)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

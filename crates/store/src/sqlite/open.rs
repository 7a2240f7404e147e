//! Opening a database: what must be true of the file, and how a connection is set up.

use super::failure::{Failure, damaged};
use super::migrate::{self, Migration};
use super::{Place, STATEMENTS_CACHED};
use crate::StoreError;
use crate::durable;
use heirloom_model::limits::BUSY_TIMEOUT_MS;
use rusqlite::{Connection, OpenFlags};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Pages in the journal after which it is carried over into the database: 16 MB. A write takes five to
/// ten pages, so that one in some hundreds pays for it; a larger journal makes the first read of a process
/// slower after a crash.
const CHECKPOINT_PAGES: u32 = 4_000;
/// Memory for pages, KiB, taken as it is needed: the indexes of 100,000 records.
const CACHE_KIB: u32 = 16_384;

/// Opens the database at `path`, or makes it.
///
/// A new one is made under another name and then moved into place, so that no process ever meets a file
/// that is not yet a database.
pub(super) fn create(path: &Path, known: &[Migration]) -> Result<(Connection, Place), StoreError> {
    let path = absolute(path)?;
    if path.symlink_metadata().is_err() {
        make(&path, known)?;
    }
    open(&path, known)
}

/// Opens the database at `path` and brings it to the newest schema.
pub(super) fn open(path: &Path, known: &[Migration]) -> Result<(Connection, Place), StoreError> {
    let path = absolute(path)?;
    durable::refuse_symlink("open", &path)?;
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(StoreError::Missing(path)),
        Err(error) => return Err(durable::failed("open", &path, error)),
    };
    if metadata.is_dir() {
        let folder = ErrorKind::IsADirectory.into();
        return Err(durable::failed("open", &path, folder));
    }
    let place = Place::File(path);
    if metadata.len() == 0 {
        return Err(damaged(&place, "the file is empty".to_owned()));
    }
    let opened = connect(&place).and_then(|mut connection| {
        migrate::bring_up(&mut connection, &place, known)?;
        keep_journal(&connection)?;
        Ok(connection)
    });
    match opened {
        Ok(connection) => Ok((connection, place)),
        Err(failure) => Err(failure.at(&place)),
    }
}

/// A fresh database in memory.
pub(super) fn memory(known: &[Migration]) -> Result<(Connection, Place), StoreError> {
    let place = Place::Memory;
    let made = Connection::open_in_memory()
        .map_err(Failure::from)
        .and_then(|mut connection| {
            set_up(&mut connection)?;
            migrate::lay_out(&mut connection, known)?;
            Ok(connection)
        });
    match made {
        Ok(connection) => Ok((connection, place)),
        Err(failure) => Err(failure.at(&place)),
    }
}

/// A connection to the existing file at `place`, set up but not looked at yet.
pub(super) fn connect(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(place.path(), flags)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Settings of every connection. None of them reads the file.
///
/// No memory-mapped reads: a file that is cut short under a mapping kills the process instead of failing a
/// call. Temporary tables stay in memory, so that nothing is spilled outside the project's folder.
fn set_up(connection: &mut Connection) -> Result<(), Failure> {
    connection.busy_handler(Some(patience()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.execute_batch(&format!(
        "PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA temp_store = MEMORY;
         PRAGMA synchronous = FULL;
         PRAGMA cache_size = -{CACHE_KIB};
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};"
    ))?;
    Ok(())
}

/// Sees to it that the file has a write-ahead log. The mode is kept in the file; a copy that another
/// program made of it may have lost it.
fn keep_journal(connection: &Connection) -> Result<(), Failure> {
    let mode = |row: &rusqlite::Row<'_>| row.get(0);
    let found: String = connection.pragma_query_value(None, "journal_mode", mode)?;
    if found != "wal" {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    }
    Ok(())
}

/// Waits for another process in sleeps of one to two milliseconds, of random length so that many waiting
/// processes do not wake in step; gives up after the longest wait.
fn patience() -> impl FnMut(i32) -> bool + Send + 'static {
    let jitter = RandomState::new();
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        if since.elapsed() >= Duration::from_millis(BUSY_TIMEOUT_MS) {
            return false;
        }
        let micros = 1_000 + jitter.hash_one((attempt, since)) % 1_000;
        thread::sleep(Duration::from_micros(micros));
        true
    }
}

/// Makes a whole database and puts it at `path`, unless another process was faster.
fn make(path: &Path, known: &[Migration]) -> Result<(), StoreError> {
    let scratch = durable::scratch(path)?;
    let place = Place::File(scratch.path().to_owned());
    let made = connect(&place).and_then(|mut connection| {
        migrate::lay_out(&mut connection, known)?;
        // Last: from then on the journal is a second file, which only closing folds back into this one.
        keep_journal(&connection)?;
        connection.close().map_err(|(_, error)| Failure::Sql(error))
    });
    made.map_err(|failure| failure.at(&place))?;
    (scratch.as_file().sync_all()).map_err(|error| durable::failed("sync", path, error))?;
    match scratch.persist_noclobber(path) {
        Ok(_) => durable::sync_folder_of(path),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(durable::failed("create", path, error.error)),
    }
}

/// The path from the root: SQLite reads a relative one that begins with `file:` as an address.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| durable::failed("open", path, error))
}

//! Opening a database: what must be true of the file.

use super::Place;
use super::connect::{connect, keep_journal, set_up};
use super::failure::{Failure, damaged};
use super::migrate::{self, Migration};
use crate::StoreError;
use crate::durable;
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What SQLite puts behind a database's name for the files that it keeps beside it.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Opens the database at `path`, or makes it.
///
/// A new one is made under another name and then moved into place, so that no process ever meets a file
/// that is not yet a database.
pub(super) fn create(path: &Path, known: &[Migration]) -> Result<(Connection, Place), StoreError> {
    let path = located(path)?;
    if path.symlink_metadata().is_err() {
        make(&path, known)?;
    }
    open(&path, known)
}

/// Opens the database at `path` and brings it to the newest schema.
pub(super) fn open(path: &Path, known: &[Migration]) -> Result<(Connection, Place), StoreError> {
    let place = Place::File(existing(path)?);
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

/// The path of a file that may be a database, from the root.
///
/// Errors: `Missing`; `Io` for a symbolic link or a folder; `Damaged` if it is empty.
pub(super) fn existing(path: &Path) -> Result<PathBuf, StoreError> {
    let path = located(path)?;
    durable::refuse_symlink("open", &path)?;
    for suffix in COMPANIONS {
        durable::refuse_symlink("open", &companion(&path, suffix))?;
    }
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(StoreError::Missing(path)),
        Err(error) => return Err(durable::failed("open", &path, error)),
    };
    if metadata.is_dir() {
        let folder = ErrorKind::IsADirectory.into();
        return Err(durable::failed("open", &path, folder));
    }
    if metadata.len() == 0 {
        return Err(damaged(&Place::File(path), "the file is empty".to_owned()));
    }
    Ok(path)
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

/// The path from the root, its folder without links: SQLite reads a relative one that begins with `file:` as
/// an address, and is told to follow no link.
fn located(path: &Path) -> Result<PathBuf, StoreError> {
    let path = std::path::absolute(path).map_err(|error| durable::failed("open", path, error))?;
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        (None, _) | (_, None) => path,
    })
}

fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

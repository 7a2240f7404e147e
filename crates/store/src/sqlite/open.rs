//! Opening a database: what must be true of the file.

use super::connect::{
    connect, connect_alone, connect_unchanging, connect_untouched, fold_on_close, keep_journal,
    set_up,
};
use super::failure::{Failure, damaged};
use super::migrate::{self, Migration};
use super::shared::Look;
use super::{Place, journal};
use crate::StoreError;
use crate::durable;
use crate::upgrade::Teller;
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What SQLite puts behind a database's name for the files that it keeps beside it.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// A database that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) place: Place,
    pub(super) access: Access,
    /// Nothing for one in memory, and for one that no other process can know of yet.
    pub(super) look: Option<Look>,
}

impl Opened {
    /// A database with which everything may be done, and which nobody else has.
    pub(super) fn alone(connection: Connection, place: Place) -> Self {
        Self {
            connection,
            place,
            access: Access::Full,
            look: None,
        }
    }
}

/// What may be done with an open database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everything.
    Full,
    /// Everything, and nobody else may do anything meanwhile.
    Alone,
    /// It is read; the folder may not be written.
    ReadOnly,
}

/// Opens the database at `path`, or makes it.
///
/// A new one is made under another name and then moved into place, so that no process ever meets a file
/// that is not yet a database.
pub(super) fn create(path: &Path, known: &[Migration]) -> Result<Opened, StoreError> {
    let path = located(path)?;
    if path.symlink_metadata().is_err() {
        make(&path, known)?;
    }
    open(&path, known, &Teller::silent())
}

/// Opens the database at `path` and brings it to the newest schema.
pub(super) fn open(
    path: &Path,
    known: &[Migration],
    teller: &Teller,
) -> Result<Opened, StoreError> {
    let place = Place::File(existing(path)?);
    let look = Look::at(&place.path());
    let opened = journal::check(&look).and_then(|()| connect_untouched(&place));
    let opened = opened.and_then(|mut connection| {
        migrate::bring_up(&mut connection, &place, known, teller)?;
        keep_journal(&connection)?;
        fold_on_close(&connection)?;
        Ok(connection)
    });
    match opened {
        Ok(connection) => Ok(Opened {
            connection,
            place,
            access: Access::Full,
            look: Some(look),
        }),
        Err(failure) => open_without_index(place, look, known, teller, failure),
    }
}

/// Opens a database beside which the file that processes share cannot be made, as far as that goes: on a full
/// disk alone, in a folder that may not be written to be read as it stands. Else the failure stands.
fn open_without_index(
    place: Place,
    look: Look,
    known: &[Migration],
    teller: &Teller,
    failure: Failure,
) -> Result<Opened, StoreError> {
    let path = place.path();
    let wanted = failure.wants_files();
    let told = failure.at(&place);
    let has_journal = journal_of(&path)
        .metadata()
        .is_ok_and(|found| found.len() > 0);
    let no_room = matches!(
        told,
        StoreError::DiskFull(_) | StoreError::WriteFailed { .. }
    );
    let opened = if !wanted {
        return Err(told);
    } else if no_room {
        connect_alone(&place).map(|connection| (connection, Access::Alone))
    } else if has_journal || is_writable(&path) {
        // What stands in a journal would be left out.
        return Err(told);
    } else {
        connect_unchanging(&path).map(|connection| (connection, Access::ReadOnly))
    };
    let opened = opened.and_then(|(mut connection, access)| {
        migrate::bring_up(&mut connection, &place, known, teller)?;
        Ok((connection, access))
    });
    match opened {
        Ok((connection, access)) => Ok(Opened {
            connection,
            place,
            access,
            look: Some(look),
        }),
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

/// Whether a file can be made beside `path`.
fn is_writable(path: &Path) -> bool {
    match durable::scratch(path) {
        Err(StoreError::Io { source, .. }) => source.kind() != ErrorKind::PermissionDenied,
        Err(StoreError::ReadOnly(_)) => false,
        Ok(_) | Err(_) => true,
    }
}

/// The journal of the database at `path`.
pub(super) fn journal_of(path: &Path) -> PathBuf {
    companion(path, "-wal")
}

/// What processes share of the database at `path`.
pub(super) fn shared_of(path: &Path) -> PathBuf {
    companion(path, "-shm")
}

/// A fresh database in memory.
pub(super) fn memory(known: &[Migration]) -> Result<Opened, StoreError> {
    let place = Place::Memory;
    let made = Connection::open_in_memory()
        .map_err(Failure::from)
        .and_then(|mut connection| {
            set_up(&mut connection)?;
            migrate::lay_out(&mut connection, known)?;
            Ok(connection)
        });
    match made {
        Ok(connection) => Ok(Opened::alone(connection, place)),
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

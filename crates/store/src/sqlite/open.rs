//! Opening and creating databases, and the checks of the file.

use super::connection::{
    Access, checkpoint_on_close, connect, connect_exclusive, connect_immutable,
    connect_without_checkpoint, ensure_wal_mode, set_up,
};
use super::database_files::database_path::{absolute_path, existing_path};
use super::database_files::shm_reader::ShmHandle;
use super::database_files::wal_check;
use super::database_location::{DatabaseLocation, wal_path};
use super::migrate;
use super::schema_version::Migration;
use crate::StoreError;
use crate::migration_progress::ProgressSink;
use crate::sql::failure::Failure;
use heirloom_fs::{FsError, durable};
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::Path;

/// Result of opening a database.
#[derive(Debug)]
pub(super) struct OpenedDatabase {
    pub(super) connection: Connection,
    pub(super) place: DatabaseLocation,
    pub(super) access: Access,
    /// `None` for an in-memory database, and for a new one that no other process knows yet.
    pub(super) shm: Option<ShmHandle>,
}

impl OpenedDatabase {
    /// Creates the result for a database with full access that no other process knows.
    pub(super) fn unshared(connection: Connection, place: DatabaseLocation) -> Self {
        Self {
            connection,
            place,
            access: Access::Full,
            shm: None,
        }
    }
}

/// Opens the database at `path`, or creates it.
///
/// A new database is created under a temporary name and then renamed, so that no process ever sees an incomplete one.
pub(super) fn create(path: &Path, known: &[Migration]) -> Result<OpenedDatabase, StoreError> {
    let path = absolute_path(path)?;
    if path.symlink_metadata().is_err() {
        create_database(&path, known)?;
    }
    open(&path, known, &ProgressSink::silent())
}

/// Opens the database at `path` and migrates it to the newest schema.
pub(super) fn open(
    path: &Path,
    known: &[Migration],
    progress: &ProgressSink,
) -> Result<OpenedDatabase, StoreError> {
    let place = DatabaseLocation::File(existing_path(path)?);
    let shm = ShmHandle::new(&place.path());
    let opened = wal_check::check(&shm).and_then(|()| connect_without_checkpoint(&place));
    let opened = opened.and_then(|mut connection| {
        wal_check::check_recovered(&shm, &connection)?;
        migrate::migrate(&mut connection, &place, known, progress)?;
        ensure_wal_mode(&connection)?;
        checkpoint_on_close(&connection)?;
        Ok(connection)
    });
    match opened {
        Ok(connection) => Ok(OpenedDatabase {
            connection,
            place,
            access: Access::Full,
            shm: Some(shm),
        }),
        Err(failure) => open_without_shm(place, shm, known, progress, failure),
    }
}

/// Opens a database whose shared-memory file (`-shm`) cannot be created: exclusively on a full disk, read-only in a
/// folder without write permission. Otherwise returns `failure`.
fn open_without_shm(
    place: DatabaseLocation,
    shm: ShmHandle,
    known: &[Migration],
    progress: &ProgressSink,
    failure: Failure,
) -> Result<OpenedDatabase, StoreError> {
    let path = place.path();
    let lacks_files = failure.lacks_files();
    let error = failure.at(&place);
    let has_journal = wal_path(&path)
        .metadata()
        .is_ok_and(|found| found.len() > 0);
    let no_room = matches!(
        error,
        StoreError::DiskFull(_) | StoreError::WriteFailed { .. }
    );
    let opened = if !lacks_files {
        return Err(error);
    } else if no_room {
        let whole = wal_check::check_frames(&shm);
        whole.and_then(|_| Ok((connect_exclusive(&place)?, Access::Exclusive)))
    } else if has_journal || is_writable(&path) {
        // Reading without the write-ahead log would miss its content.
        return Err(error);
    } else {
        connect_immutable(&path).map(|connection| (connection, Access::ReadOnly))
    };
    let opened = opened.and_then(|(mut connection, access)| {
        migrate::migrate(&mut connection, &place, known, progress)?;
        Ok((connection, access))
    });
    match opened {
        Ok((connection, access)) => Ok(OpenedDatabase {
            connection,
            place,
            access,
            shm: Some(shm),
        }),
        Err(failure) => Err(failure.at(&place)),
    }
}

/// Returns true if a file can be created next to `path`.
fn is_writable(path: &Path) -> bool {
    match durable::create_scratch_file(path) {
        Err(FsError::Io { source, .. }) => source.kind() != ErrorKind::PermissionDenied,
        Err(FsError::ReadOnly(_)) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Creates an in-memory database.
pub(super) fn memory(known: &[Migration]) -> Result<OpenedDatabase, StoreError> {
    let place = DatabaseLocation::Memory;
    let made = Connection::open_in_memory()
        .map_err(Failure::from)
        .and_then(|mut connection| {
            set_up(&mut connection)?;
            migrate::create_schema(&mut connection, known)?;
            Ok(connection)
        });
    match made {
        Ok(connection) => Ok(OpenedDatabase::unshared(connection, place)),
        Err(failure) => Err(failure.at(&place)),
    }
}

/// Creates a complete database and renames it to `path`, unless another process was faster.
fn create_database(path: &Path, known: &[Migration]) -> Result<(), StoreError> {
    let scratch = durable::create_scratch_file(path)?;
    let place = DatabaseLocation::File(scratch.path().to_owned());
    let made = connect(&place).and_then(|mut connection| {
        migrate::create_schema(&mut connection, known)?;
        // Last, because from then on the write-ahead log is a second file, and only closing merges it into this one.
        ensure_wal_mode(&connection)?;
        connection
            .close()
            .map_err(|(_, error)| Failure::from(error))
    });
    made.map_err(|failure| failure.at(&place))?;
    (scratch.as_file().sync_all()).map_err(|error| durable::failed("sync", path, error))?;
    match scratch.persist_noclobber(path) {
        Ok(_) => Ok(durable::sync_folder_of(path)?),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(durable::failed("create", path, error.error).into()),
    }
}

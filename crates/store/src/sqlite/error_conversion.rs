//! Conversion of SQLite errors to store errors.

use super::database_location::DatabaseLocation;
use crate::StoreError;
use crate::sql::SqlError;
use crate::sql::failure::Failure;
use rusqlite::{ErrorCode, ffi};
use std::io;

impl Failure {
    /// Converts the failure to a store error for the database at `place`.
    pub(in crate::sqlite) fn at(self, place: &DatabaseLocation) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Damaged(problem) => damaged(place, problem),
            Self::Sql(SqlError::Sqlite(error)) => from_sql(&error, place),
            Self::Sql(error @ (SqlError::Postgres(_) | SqlError::Timeout(_))) => {
                StoreError::Backend(error.to_string())
            }
        }
    }

    /// Returns true if a file that SQLite needs next to the database could not be created, for lack of permission or
    /// space.
    pub(super) fn lacks_files(&self) -> bool {
        let Self::Sql(SqlError::Sqlite(error)) = self else {
            return false;
        };
        let extended = error.sqlite_error().map(|error| error.extended_code);
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::DiskFull)
        ) || extended.is_some_and(|code| WRITING.contains(&code))
    }
}

/// SQLite error codes for a file that could not be written, synced or extended.
const WRITING: [i32; 5] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_SHMSIZE,
];

/// Creates the error for a file that cannot be read as a database.
pub(super) fn damaged(place: &DatabaseLocation, problem: String) -> StoreError {
    StoreError::Damaged {
        path: place.path(),
        problem,
    }
}

fn from_sql(error: &rusqlite::Error, place: &DatabaseLocation) -> StoreError {
    let Some(code) = error.sqlite_error_code() else {
        let unreadable = matches!(
            error,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..)
        );
        return if unreadable {
            damaged(place, error.to_string())
        } else {
            StoreError::Backend(error.to_string())
        };
    };
    let refused = |action| StoreError::Io {
        action,
        path: place.path(),
        source: io::Error::other(error.to_string()),
    };
    if code == ErrorCode::DiskFull {
        StoreError::DiskFull(place.to_string())
    } else if matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) {
        StoreError::Busy {
            waited_ms: heirloom_model::limits::BUSY_TIMEOUT_MS,
        }
    } else if matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) {
        damaged(place, error.to_string())
    } else if matches!(code, ErrorCode::CannotOpen | ErrorCode::PermissionDenied) {
        refused("open")
    } else if code == ErrorCode::ReadOnly {
        StoreError::ReadOnly(place.path())
    } else if code == ErrorCode::SystemIoFailure {
        match error.sqlite_error().map(|error| error.extended_code) {
            // SQLite recognises a full disk by one error code of the system only. A file size limit and an exceeded
            // quota look like any other failed write.
            Some(code) if WRITING.contains(&code) => StoreError::WriteFailed {
                path: place.path(),
                problem: error.to_string(),
            },
            Some(ffi::SQLITE_IOERR_SHORT_READ) => {
                damaged(place, "one of its files was cut short".to_owned())
            }
            Some(_) | None => refused("use"),
        }
    } else if code == ErrorCode::TooBig {
        StoreError::Invalid(error.to_string())
    } else {
        StoreError::Backend(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::{ErrorKind, Fault};

    fn error_of(code: i32) -> StoreError {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        Failure::from(error).at(&DatabaseLocation::File("/p/heirloom.db".into()))
    }

    #[test]
    fn sqlite_errors_map_to_store_errors() {
        assert!(matches!(
            error_of(ffi::SQLITE_FULL),
            StoreError::DiskFull(_)
        ));
        assert!(matches!(
            error_of(ffi::SQLITE_BUSY),
            StoreError::Busy { waited_ms: 30_000 }
        ));
        assert!(matches!(
            error_of(ffi::SQLITE_BUSY_RECOVERY),
            StoreError::Busy { .. }
        ));
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB] {
            assert!(matches!(error_of(code), StoreError::Damaged { .. }));
        }
        for code in [
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_PERM,
            ffi::SQLITE_IOERR_READ,
        ] {
            let error = error_of(code);
            assert!(matches!(error, StoreError::Io { .. }), "{error}");
            let fault = Fault::from(error);
            assert_eq!(fault.kind, ErrorKind::Failed);
            assert!(
                fault.message.contains("/p/heirloom.db"),
                "{}",
                fault.message
            );
        }
        assert!(matches!(
            error_of(ffi::SQLITE_READONLY),
            StoreError::ReadOnly(_)
        ));
        for code in WRITING {
            let fault = Fault::from(error_of(code));
            assert!(
                fault.message.contains("the disk may be full"),
                "{}",
                fault.message
            );
        }
        assert!(matches!(
            error_of(ffi::SQLITE_IOERR_SHORT_READ),
            StoreError::Damaged { .. }
        ));
        assert!(matches!(
            error_of(ffi::SQLITE_CONSTRAINT),
            StoreError::Backend(_)
        ));
    }
}

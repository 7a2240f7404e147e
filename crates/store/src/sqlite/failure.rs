//! What SQLite says, in the store's words.

use super::Place;
use crate::StoreError;
use rusqlite::{ErrorCode, ffi};
use std::io;

/// A failure inside a transaction, before it is known which file it was.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite refused.
    Sql(rusqlite::Error),
    /// A row does not hold what was once written to it.
    Damaged(String),
    /// The store refuses.
    Store(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    /// The store's error for a database at `place`.
    pub(super) fn at(self, place: &Place) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Damaged(problem) => damaged(place, problem),
            Self::Sql(error) => of_sql(&error, place),
        }
    }

    /// Whether a file that SQLite needs beside the database could not be made: for want of leave or of room.
    pub(super) fn wants_files(&self) -> bool {
        let Self::Sql(error) = self else {
            return false;
        };
        let extended = error.sqlite_error().map(|error| error.extended_code);
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::DiskFull)
        ) || extended.is_some_and(|code| WRITING.contains(&code))
    }

    /// Whether a unique index refused a row.
    pub(super) fn is_duplicate(error: &rusqlite::Error) -> bool {
        error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
    }
}

/// What SQLite says when a file could not be written, synced or made larger.
const WRITING: [i32; 5] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_SHMSIZE,
];

/// The error for a database that cannot be read as one.
pub(super) fn damaged(place: &Place, problem: String) -> StoreError {
    StoreError::Damaged {
        path: place.path(),
        problem,
    }
}

fn of_sql(error: &rusqlite::Error, place: &Place) -> StoreError {
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
            // SQLite knows a full disk by one code of the system only; a limit on file sizes and a full
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

    fn told(code: i32) -> StoreError {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        Failure::Sql(error).at(&Place::File("/p/heirloom.db".into()))
    }

    #[test]
    fn what_sqlite_says_becomes_a_kind() {
        assert!(matches!(told(ffi::SQLITE_FULL), StoreError::DiskFull(_)));
        assert!(matches!(
            told(ffi::SQLITE_BUSY),
            StoreError::Busy { waited_ms: 30_000 }
        ));
        assert!(matches!(
            told(ffi::SQLITE_BUSY_RECOVERY),
            StoreError::Busy { .. }
        ));
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB] {
            assert!(matches!(told(code), StoreError::Damaged { .. }));
        }
        for code in [
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_PERM,
            ffi::SQLITE_IOERR_READ,
        ] {
            let error = told(code);
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
            told(ffi::SQLITE_READONLY),
            StoreError::ReadOnly(_)
        ));
        for code in WRITING {
            let fault = Fault::from(told(code));
            assert!(
                fault.message.contains("the disk may be full"),
                "{}",
                fault.message
            );
        }
        assert!(matches!(
            told(ffi::SQLITE_IOERR_SHORT_READ),
            StoreError::Damaged { .. }
        ));
        assert!(matches!(
            told(ffi::SQLITE_CONSTRAINT),
            StoreError::Backend(_)
        ));
    }
}

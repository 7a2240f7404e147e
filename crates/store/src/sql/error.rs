//! Errors of a statement.

use rusqlite::ErrorCode;
use std::time::Duration;

/// Error of a statement in either database.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// Error of SQLite, or of the conversion of a value.
    Sqlite(rusqlite::Error),
    /// Error of PostgreSQL or of the connection to it.
    Postgres(tokio_postgres::Error),
    /// The server of PostgreSQL did not answer in this time.
    Timeout(Duration),
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl SqlError {
    /// Returns true if a unique index rejected a row in SQLite. PostgreSQL has aborted the transaction by then, so its
    /// callers look for the row before they write.
    pub(crate) fn is_duplicate(&self) -> bool {
        matches!(self, Self::Sqlite(error)
            if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
    }
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(out),
            Self::Postgres(error) => error.fmt(out),
            Self::Timeout(longest) => write!(out, "no answer within {longest:?}"),
        }
    }
}

/// Conversion of the result of a query for one row that may be missing.
pub(crate) trait OptionalRow<T> {
    /// Returns `None` if the query found no row.
    fn optional(self) -> Result<Option<T>, SqlError>;
}

impl<T> OptionalRow<T> for Result<T, SqlError> {
    fn optional(self) -> Result<Option<T>, SqlError> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(SqlError::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

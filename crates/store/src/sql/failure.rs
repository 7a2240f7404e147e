//! Errors inside a transaction, before the database is known.

use crate::StoreError;
use crate::sql::SqlError;
use heirloom_fs::FsError;

/// Error inside a transaction.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Error of a statement.
    Sql(SqlError),
    /// A row has content that the store never wrote.
    Damaged(String),
    /// Error of the store.
    Store(StoreError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(SqlError::Postgres(error))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(SqlError::Sqlite(error))
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        Self::Store(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

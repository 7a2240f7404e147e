//! Access to a database in SQL: the interface that SQLite and PostgreSQL implement.
//!
//! Statements are written in the SQL that both databases share. The few differences are in
//! the module `postgres::dialect`, which rewrites a statement before PostgreSQL gets it. Values have the types of SQLite:
//! integers, floating-point numbers, texts and bytes.

mod error;
pub(crate) mod failure;
mod locked_index;
pub(crate) mod postgres;
mod row;
mod statement;
mod values;

pub(crate) use error::{OptionalRow, SqlError};
pub(crate) use locked_index::{LockedIndex, TailLength};
pub(crate) use row::Row;
pub(crate) use statement::Statement;
pub(crate) use values::Values;

use crate::sql::failure::Failure;
use crate::sql::postgres::session::PgSession;
use std::cell::RefCell;

pub(crate) use crate::sql::postgres::request::QueryBatch;

/// Connection to a database, or a transaction of one.
#[derive(Clone, Copy)]
pub(crate) enum Connection<'c> {
    /// Connection to SQLite.
    Sqlite(&'c rusqlite::Connection),
    /// Connection to PostgreSQL.
    Postgres(&'c PgSession),
}

impl<'c> From<&'c rusqlite::Connection> for Connection<'c> {
    fn from(connection: &'c rusqlite::Connection) -> Self {
        Self::Sqlite(connection)
    }
}

impl<'c> Connection<'c> {
    /// Prepares a statement, or takes it from the cache of the connection.
    pub(crate) fn prepare_cached(self, sql: &str) -> Result<Statement<'c>, SqlError> {
        Ok(match self {
            Self::Sqlite(connection) => Statement::Sqlite(connection.prepare_cached(sql)?),
            Self::Postgres(session) => Statement::Postgres(session.statement(sql)),
        })
    }

    /// Executes one statement and returns the number of changed rows.
    pub(crate) fn execute(self, sql: &str, values: impl Values) -> Result<usize, SqlError> {
        self.prepare_cached(sql)?.execute(values)
    }

    /// Returns the first row of a query; an error if it has none.
    pub(crate) fn query_row<T>(
        self,
        sql: &str,
        values: impl Values,
        read: impl FnOnce(Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, SqlError> {
        self.prepare_cached(sql)?.query_row(values, read)
    }

    /// Sends the queries that `fill` adds in one round trip, so that later queries with the same statements and values
    /// need none. SQLite has no round trips: `fill` is not called.
    pub(crate) fn prefetch(
        self,
        fill: impl FnOnce(&mut QueryBatch<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(session) => session.prefetch(fill),
        }
    }

    /// Returns the index rows that the transaction has locked; `None` for SQLite.
    pub(crate) fn locked_index(self) -> Option<&'c RefCell<LockedIndex>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => Some(session.locked_index()),
        }
    }

    /// Checks foreign keys at the end of the transaction instead of after each statement. PostgreSQL's schema declares
    /// its foreign keys as deferred.
    pub(crate) fn defer_foreign_keys(self) -> Result<(), SqlError> {
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
            }
            Self::Postgres(_) => {}
        }
        Ok(())
    }

    /// Forgets the numbers of projects that earlier queries read.
    pub(crate) fn forget_projects(self) {
        if let Self::Postgres(session) = self {
            session.forget_projects();
        }
    }

    /// Returns true for a connection to PostgreSQL.
    pub(crate) fn is_postgres(self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Returns the path of the database file; `None` for a database in memory or on a server.
    pub(crate) fn path(self) -> Option<&'c str> {
        match self {
            Self::Sqlite(connection) => connection.path().filter(|path| !path.is_empty()),
            Self::Postgres(_) => None,
        }
    }
}

//! Statements with their values.

use super::{Row, SqlError, Values};
use crate::sql::postgres::session::PgStatement;
use crate::sql::postgres::values::PgRow;
use rusqlite::types::FromSql;
use std::rc::Rc;

/// Prepared statement.
pub(crate) enum Statement<'c> {
    /// Statement of SQLite.
    Sqlite(rusqlite::CachedStatement<'c>),
    /// Statement of PostgreSQL.
    Postgres(PgStatement<'c>),
}

impl Statement<'_> {
    /// Executes the statement and returns the number of changed rows.
    pub(crate) fn execute(&mut self, values: impl Values) -> Result<usize, SqlError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => Ok(statement.execute(values)?),
            Self::Postgres(statement) => statement.execute(values),
        })
    }

    /// Executes the statement for its effect alone. On PostgreSQL it is sent with the next query or with the commit,
    /// which returns its error; so a transaction of many writes takes few round trips.
    pub(crate) fn write(&mut self, values: impl Values) -> Result<(), SqlError> {
        values.with(|values| match self {
            Self::Sqlite(statement) => {
                statement.execute(values)?;
                Ok(())
            }
            Self::Postgres(statement) => statement.write(values),
        })
    }

    /// Runs the query; the rows are read one after the other.
    pub(crate) fn query(&mut self, values: impl Values) -> Result<Rows<'_>, SqlError> {
        values.with(|values| {
            Ok(match self {
                Self::Sqlite(statement) => Rows::Sqlite(statement.query(values)?),
                Self::Postgres(statement) => Rows::Postgres {
                    rows: statement.query(values)?,
                    next: 0,
                },
            })
        })
    }

    /// Runs the query and converts its first row; an error if it has none.
    pub(crate) fn query_row<T>(
        &mut self,
        values: impl Values,
        read: impl FnOnce(Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, SqlError> {
        let mut rows = self.query(values)?;
        match rows.next()? {
            Some(row) => Ok(read(row)?),
            None => Err(SqlError::Sqlite(rusqlite::Error::QueryReturnedNoRows)),
        }
    }

    /// Runs the query and converts its rows.
    pub(crate) fn query_map<T>(
        &mut self,
        values: impl Values,
        mut read: impl FnMut(Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SqlError> {
        let mut rows = self.query(values)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Runs the query and returns the values of its first column.
    pub(crate) fn query_column<T: FromSql>(
        &mut self,
        values: impl Values,
    ) -> Result<Vec<T>, SqlError> {
        self.query_map(values, |row| row.get(0))
    }
}

/// Rows of a query that were not read yet.
pub(crate) enum Rows<'s> {
    /// Rows of SQLite, which are computed as they are read.
    Sqlite(rusqlite::Rows<'s>),
    /// Rows that PostgreSQL has sent.
    Postgres {
        /// All rows of the query.
        rows: Rc<Vec<PgRow>>,
        /// Place of the row that is returned next.
        next: usize,
    },
}

impl Rows<'_> {
    /// Reads the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, SqlError> {
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Self::Postgres { rows, next } => {
                let row = rows.get(*next);
                *next += 1;
                Ok(row.map(Row::Postgres))
            }
        }
    }
}

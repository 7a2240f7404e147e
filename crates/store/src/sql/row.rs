//! Rows of a query.

use crate::sql::postgres::values::PgRow;
use rusqlite::types::{FromSql, FromSqlError, Type, ValueRef};

/// Row of a query.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    /// Row of SQLite.
    Sqlite(&'r rusqlite::Row<'r>),
    /// Row of PostgreSQL.
    Postgres(&'r PgRow),
}

impl<'r> Row<'r> {
    /// Returns the value of a column.
    pub(crate) fn get_ref(self, column: usize) -> rusqlite::Result<ValueRef<'r>> {
        match self {
            Self::Sqlite(row) => row.get_ref(column),
            Self::Postgres(row) => row.value(column),
        }
    }

    /// Returns the value of a column as a Rust value.
    pub(crate) fn get<T: FromSql>(self, column: usize) -> rusqlite::Result<T> {
        match self {
            Self::Sqlite(row) => row.get(column),
            Self::Postgres(row) => {
                let value = row.value(column)?;
                T::column_result(value).map_err(|error| {
                    if let FromSqlError::OutOfRange(number) = error {
                        return rusqlite::Error::IntegralValueOutOfRange(column, number);
                    }
                    let error = Box::new(error);
                    rusqlite::Error::FromSqlConversionFailure(column, Type::Null, error)
                })
            }
        }
    }

    /// Returns the number of columns.
    pub(crate) fn column_count(self) -> usize {
        match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.len(),
        }
    }
}

//! Sinks for salvaged rows: counting, and inserting into a new database.

use super::page_scan::RowSink;
use super::row_names::{id_of, quoted};
use super::schema_layout::RowShape;
use super::skipped_rows::SkippedRows;
use crate::sql::failure::Failure;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeMap;

/// Sink that ignores the rows; the scan counts them.
pub(super) struct CountingSink;

impl RowSink for CountingSink {
    fn row(&mut self, _: &RowShape, _: Option<i64>, _: &[ValueRef<'_>]) {}

    fn project(&mut self, _: String, _: i64) {}
}

/// Sink that inserts rows; of several rows with the same key the first is kept.
pub(super) struct InsertingSink<'a> {
    connection: &'a Connection,
    /// Names of projects by number, from an index.
    names: BTreeMap<i64, String>,
    refused: SkippedRows,
    failure: Option<rusqlite::Error>,
}

impl<'a> InsertingSink<'a> {
    pub(super) fn into(connection: &'a Connection) -> Self {
        Self {
            connection,
            names: BTreeMap::new(),
            refused: SkippedRows::default(),
            failure: None,
        }
    }

    /// Returns the project names that were found and the rows that were refused.
    pub(super) fn finish(self) -> Result<(BTreeMap<i64, String>, SkippedRows), Failure> {
        match self.failure {
            Some(error) => Err(error.into()),
            None => Ok((self.names, self.refused)),
        }
    }

    fn insert(
        &self,
        shape: &RowShape,
        rowid: Option<i64>,
        values: &[ValueRef<'_>],
    ) -> rusqlite::Result<()> {
        let names = shape.columns.iter().take(values.len());
        let names: Vec<_> = names.map(|column| quoted(&column.name)).collect();
        let places = vec!["?"; names.len()].join(", ");
        let sql = format!(
            "INSERT OR IGNORE INTO {} ({}) VALUES ({places})",
            quoted(&shape.table),
            names.join(", ")
        );
        let number = shape.row_number.zip(rowid);
        let values = values.iter().enumerate().map(|(place, value)| {
            ToSqlOutput::Borrowed(match number {
                Some((at, number)) if at == place => ValueRef::Integer(number),
                _ => *value,
            })
        });
        let mut statement = self.connection.prepare_cached(&sql)?;
        statement.execute(params_from_iter(values)).map(drop)
    }
}

impl RowSink for InsertingSink<'_> {
    fn row(&mut self, shape: &RowShape, rowid: Option<i64>, values: &[ValueRef<'_>]) {
        if self.failure.is_some() {
            return;
        }
        match self.insert(shape, rowid, values) {
            Ok(()) => {}
            // An error of the disk and not of the row.
            Err(error) if is_disk_error(&error) => self.failure = Some(error),
            Err(error) => {
                let id = id_of(shape, values).unwrap_or_default();
                self.refused.push(&shape.table, id, error.to_string());
            }
        }
    }

    fn project(&mut self, name: String, number: i64) {
        self.names.entry(number).or_insert(name);
    }
}

fn is_disk_error(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
        )
    )
}

//! Writing the rows that were found into a fresh database.

use super::super::failure::Failure;
use super::layout::Shape;
use super::survey::Sink;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeMap;

/// Counts only.
pub(super) struct Count;

impl Sink for Count {
    fn row(&mut self, _: &Shape, _: Option<i64>, _: &[ValueRef<'_>]) {}

    fn project(&mut self, _: String, _: i64) {}
}

/// Writes rows; of several that have the same key the first stays.
pub(super) struct Insert<'a> {
    connection: &'a Connection,
    /// Names of projects by number, from an index.
    names: BTreeMap<i64, String>,
    refused: usize,
    failure: Option<rusqlite::Error>,
}

impl<'a> Insert<'a> {
    pub(super) fn into(connection: &'a Connection) -> Self {
        Self {
            connection,
            names: BTreeMap::new(),
            refused: 0,
            failure: None,
        }
    }

    /// The names of projects that were met, and how many rows were refused.
    pub(super) fn finish(self) -> Result<(BTreeMap<i64, String>, usize), Failure> {
        match self.failure {
            Some(error) => Err(error.into()),
            None => Ok((self.names, self.refused)),
        }
    }

    fn insert(
        &self,
        shape: &Shape,
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

impl Sink for Insert<'_> {
    fn row(&mut self, shape: &Shape, rowid: Option<i64>, values: &[ValueRef<'_>]) {
        if self.failure.is_some() {
            return;
        }
        match self.insert(shape, rowid, values) {
            Ok(()) => {}
            // The disk, not the row.
            Err(error) if is_of_the_disk(&error) => self.failure = Some(error),
            Err(_) => self.refused += 1,
        }
    }

    fn project(&mut self, name: String, number: i64) {
        self.names.entry(number).or_insert(name);
    }
}

fn is_of_the_disk(error: &rusqlite::Error) -> bool {
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

/// A name as SQL takes it whatever it is: `group` is one of ours.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

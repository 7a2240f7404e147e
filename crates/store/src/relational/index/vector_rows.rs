//! Rows of the table of vectors, by project and key.
//!
//! The key contains the project's number. PostgreSQL's table has a column for it in addition, by which it is
//! distributed.

use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, QueryBatch};
use rusqlite::params;
use std::ops::Range;

/// Statement that reads a row in PostgreSQL.
const ROW: &str = "SELECT data FROM vectors WHERE project = ?1 AND id = ?2";

/// Adds the query of [`read`] to a batch.
pub(super) fn prefetch(batch: &mut QueryBatch<'_>, project: i64, key: i64) -> Result<(), Failure> {
    Ok(batch.add(ROW, [project, key])?)
}

/// Reads a row.
pub(super) fn read(
    connection: Connection<'_>,
    project: i64,
    key: i64,
) -> Result<Option<Vec<u8>>, Failure> {
    let found = if connection.is_postgres() {
        connection.query_row(ROW, [project, key], |row| row.get(0))
    } else {
        let sql = "SELECT data FROM vectors WHERE id = ?1";
        connection.query_row(sql, [key], |row| row.get(0))
    };
    Ok(found.optional()?)
}

/// Writes or replaces a row.
pub(super) fn write(
    connection: Connection<'_>,
    project: i64,
    key: i64,
    data: &[u8],
) -> Result<(), Failure> {
    if connection.is_postgres() {
        let sql = "INSERT INTO vectors (project, id, data) VALUES (?1, ?2, ?3) \
             ON CONFLICT (project, id) DO UPDATE SET data = excluded.data";
        let mut statement = connection.prepare_cached(sql)?;
        statement.write(params![project, key, data])?;
    } else {
        let sql = "INSERT OR REPLACE INTO vectors (id, data) VALUES (?1, ?2)";
        connection.prepare_cached(sql)?.write(params![key, data])?;
    }
    Ok(())
}

/// Builds the statement that reads the rows of a range of keys.
fn range_query(is_postgres: bool, is_descending: bool) -> String {
    let order = if is_descending { " DESC" } else { "" };
    let of_project = if is_postgres { "project = ?3 AND " } else { "" };
    format!(
        "SELECT id, data FROM vectors WHERE {of_project}id >= ?1 AND id < ?2 ORDER BY id{order}"
    )
}

/// Adds the query of [`each_in`] in ascending order to a batch.
pub(super) fn prefetch_range(
    batch: &mut QueryBatch<'_>,
    project: i64,
    keys: Range<i64>,
) -> Result<(), Failure> {
    let sql = range_query(true, false);
    Ok(batch.add(&sql, [keys.start, keys.end, project])?)
}

/// Calls `each` with the key and the data of every row with a key in `keys`, in order of the keys.
pub(super) fn each_in(
    connection: Connection<'_>,
    project: i64,
    keys: Range<i64>,
    is_descending: bool,
    mut each: impl FnMut(i64, &[u8]),
) -> Result<(), Failure> {
    let sql = range_query(connection.is_postgres(), is_descending);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = if connection.is_postgres() {
        statement.query([keys.start, keys.end, project])?
    } else {
        statement.query([keys.start, keys.end])?
    };
    while let Some(row) = rows.next()? {
        each(row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or(&[]));
    }
    Ok(())
}

/// Deletes the rows with a key in `keys`.
pub(super) fn delete_in(
    connection: Connection<'_>,
    project: i64,
    keys: Range<i64>,
) -> Result<(), Failure> {
    if connection.is_postgres() {
        let sql = "DELETE FROM vectors WHERE project = ?1 AND id >= ?2 AND id < ?3";
        let mut statement = connection.prepare_cached(sql)?;
        statement.write([project, keys.start, keys.end])?;
    } else {
        let sql = "DELETE FROM vectors WHERE id >= ?1 AND id < ?2";
        let mut statement = connection.prepare_cached(sql)?;
        statement.write([keys.start, keys.end])?;
    }
    Ok(())
}

//! Removal of rows that the store could not have written, one by one, so that one bad row never costs the others.

use super::row_names::{id_sql, quoted};
use super::schema_layout::RowShape;
use super::skipped_rows::SkippedRows;
use crate::relational::{audit_events, receipts, row_codec};
use crate::sql::Row;
use crate::sql::failure::Failure;
use crate::sqlite::integrity;
use heirloom_model::ProjectName;
use rusqlite::Connection;

/// Deletes records that the store could not have written. Works in every schema version.
pub(super) fn remove_unsound_records(
    connection: &Connection,
    shape: &RowShape,
    skipped: &mut SkippedRows,
) -> Result<(), Failure> {
    for (what, condition) in integrity::unsound_records() {
        let id = id_sql(shape, true);
        let sql = format!("DELETE FROM records WHERE {condition} RETURNING {id}");
        let mut statement = connection.prepare(&sql)?;
        let ids = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
        for id in ids {
            skipped.push("records", id?.unwrap_or_default(), format!("has {what}"));
        }
    }
    Ok(())
}

/// Deletes the rows of a migrated database that the store could not read; returns true if there were any.
pub(super) fn remove_unreadable_rows(
    connection: &Connection,
    skipped: &mut SkippedRows,
) -> Result<bool, Failure> {
    let before = skipped.count;
    let project = ProjectName::new("p").map_err(|error| Failure::Damaged(error.to_string()))?;
    let tables: [(&str, &str, Reading<'_>); 5] = [
        ("records", row_codec::COLUMNS, &|row| {
            row_codec::record(&project, Row::Sqlite(row)).map(drop)
        }),
        ("messages", row_codec::MESSAGE_COLUMNS, &|row| {
            row_codec::message(Row::Sqlite(row)).map(drop)
        }),
        ("sessions", row_codec::SESSION_COLUMNS, &|row| {
            row_codec::session(&project, Row::Sqlite(row)).map(drop)
        }),
        ("events", audit_events::COLUMNS, &|row| {
            audit_events::event(Row::Sqlite(row)).map(drop)
        }),
        ("receipts", "id, at, session, body", &|row| {
            receipts::receipt(Row::Sqlite(row)).map(drop)
        }),
    ];
    for (table, columns, read) in tables {
        // Sessions have no row numbers; their key is their id.
        let key = if table == "sessions" { "id" } else { "rowid" };
        let mut unreadable = Vec::new();
        let sql = format!("SELECT {columns}, {key} FROM {table}");
        let mut statement = connection.prepare(&sql)?;
        let place = statement.column_count().saturating_sub(1);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let reason = match read(row) {
                Ok(()) => continue,
                Err(Failure::Damaged(problem)) => problem,
                Err(Failure::Sql(error)) => error.to_string(),
                Err(error @ Failure::Store(_)) => return Err(error),
            };
            unreadable.push((row.get::<_, rusqlite::types::Value>(place)?, reason));
        }
        drop(rows);
        let id = match table {
            "events" => "'row ' || rowid",
            "sessions" => "id",
            _ => "lower(hex(id))",
        };
        let sql = format!(
            "DELETE FROM {} WHERE {key} = ?1 RETURNING {id}",
            quoted(table)
        );
        let mut statement = connection.prepare(&sql)?;
        for (key, reason) in unreadable {
            let ids = statement.query_map([key], |row| row.get::<_, Option<String>>(0))?;
            for id in ids {
                skipped.push(table, id?.unwrap_or_default(), reason.clone());
            }
        }
    }
    Ok(skipped.count > before)
}

/// Function that reads one row as the store does.
type Reading<'a> = &'a dyn Fn(&rusqlite::Row<'_>) -> Result<(), Failure>;

//! Integrity check and description of a database.

use super::database_location::{DatabaseLocation, wal_path};
use super::schema_version;
use crate::Description;
use crate::relational::index;
use crate::sql::failure::Failure;
use heirloom_fs::durable;
use heirloom_model::Kind;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Maximum number of findings of one kind.
const FINDINGS_MAX: usize = 100;

/// Describes the database: location, version and size.
pub(super) fn describe(
    connection: &Connection,
    place: &DatabaseLocation,
) -> Result<Description, Failure> {
    let size_bytes = match place {
        DatabaseLocation::Memory => {
            let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
            connection.query_row(sql, [], |row| row.get(0))?
        }
        DatabaseLocation::File(path) => file_size(path)? + file_size(&wal_path(path))?,
    };
    Ok(Description {
        location: place.to_string(),
        schema_version: schema_version::version(connection)?,
        size_bytes,
    })
}

/// Returns the size of a file, bytes; 0 if it does not exist.
fn file_size(path: &Path) -> Result<u64, Failure> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(durable::failed("look at", path, error).into()),
    }
}

/// Checks the file, its references and the content of its rows.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Failure> {
    let mut findings = integrity(connection)?;
    findings.extend(references(connection)?);
    findings.extend(rows(connection)?);
    findings.extend(index::check(connection.into())?);
    Ok(findings)
}

/// Checks pages, trees, and the consistency of indexes with their tables.
pub(super) fn integrity(connection: &Connection) -> Result<Vec<String>, Failure> {
    lines(
        connection,
        "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    )
}

/// Finds references to missing rows.
pub(super) fn references(connection: &Connection) -> Result<Vec<String>, Failure> {
    lines(
        connection,
        "SELECT DISTINCT 'a row of `' || \"table\" || '` refers to no row of `' || parent || '`' \
         FROM pragma_foreign_key_check",
    )
}

/// Finds rows with content that the store could not have written.
pub(super) fn rows(connection: &Connection) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for (what, condition) in unsound_records() {
        findings.extend(lines(
            connection,
            &format!(
                "SELECT 'record ' || lower(hex(id)) || ' has {what}' FROM records WHERE {condition}"
            ),
        )?);
    }
    findings.extend(lines(
        connection,
        "SELECT 'session `' || s.id || '` has gaps between its messages' FROM sessions s \
         JOIN messages m ON m.project = s.project AND m.session = s.id \
         GROUP BY s.project, s.id HAVING count(*) <> max(m.seq) + 1",
    )?);
    Ok(findings)
}

/// Returns descriptions of invalid records, each with the SQL condition that finds them.
pub(super) fn unsound_records() -> [(&'static str, String); 5] {
    let kinds = Kind::ALL.map(|kind| format!("'{kind}'")).join(", ");
    [
        ("a bad id", "length(id) <> 16".to_owned()),
        ("an unknown kind", format!("kind NOT IN ({kinds})")),
        (
            "bad attributes",
            "json_valid(attrs) = 0 OR json_type(attrs) <> 'object'".to_owned(),
        ),
        (
            "a bad confidence",
            "confidence NOT BETWEEN 0 AND 1".to_owned(),
        ),
        (
            "a successor but no end",
            "replaced_by IS NOT NULL AND retired_at IS NULL".to_owned(),
        ),
    ]
}

/// Counts the rows of each table.
pub(super) fn row_counts(connection: &Connection) -> Result<BTreeMap<String, u64>, Failure> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut counts = BTreeMap::new();
    for table in lines(connection, sql)? {
        let sql = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
        let count = connection.query_row(&sql, [], |row| row.get(0))?;
        counts.insert(table, count);
    }
    Ok(counts)
}

fn lines(connection: &Connection, sql: &str) -> Result<Vec<String>, Failure> {
    let mut statement = connection.prepare(sql)?;
    let lines = statement.query_map([], |row| row.get(0))?;
    Ok(lines.take(FINDINGS_MAX).collect::<Result<_, _>>()?)
}

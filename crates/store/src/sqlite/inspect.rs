//! What a database says of itself, and the search for damage.

use super::failure::Failure;
use super::index;
use super::{Place, migrate, open};
use crate::{Description, durable};
use heirloom_model::Kind;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Most findings of one sort that are listed.
const FINDINGS_MAX: usize = 100;

/// Where it is, its version and its size.
pub(super) fn describe(connection: &Connection, place: &Place) -> Result<Description, Failure> {
    let size_bytes = match place {
        Place::Memory => {
            let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
            connection.query_row(sql, [], |row| row.get(0))?
        }
        Place::File(path) => file_size(path)? + file_size(&open::journal_of(path))?,
    };
    Ok(Description {
        location: place.to_string(),
        schema_version: migrate::version(connection)?,
        size_bytes,
    })
}

/// Bytes in a file; none if there is no such file.
fn file_size(path: &Path) -> Result<u64, Failure> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(durable::failed("look at", path, error).into()),
    }
}

/// Looks for damage in the file, in its references and in what its rows say.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Failure> {
    let mut findings = integrity(connection)?;
    findings.extend(references(connection)?);
    findings.extend(rows(connection)?);
    findings.extend(index::check(connection)?);
    Ok(findings)
}

/// Damage of pages and trees, and indexes that do not say what their table says.
pub(super) fn integrity(connection: &Connection) -> Result<Vec<String>, Failure> {
    lines(
        connection,
        "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    )
}

/// Rows that refer to rows that are not there.
pub(super) fn references(connection: &Connection) -> Result<Vec<String>, Failure> {
    lines(
        connection,
        "SELECT DISTINCT 'a row of `' || \"table\" || '` refers to no row of `' || parent || '`' \
         FROM pragma_foreign_key_check",
    )
}

/// Rows that do not say what the store could have written.
pub(super) fn rows(connection: &Connection) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    let kinds = Kind::ALL.map(|kind| format!("'{kind}'")).join(", ");
    let rows = [
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
    ];
    for (what, condition) in rows {
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

/// How many rows each table has.
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

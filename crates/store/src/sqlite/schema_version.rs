//! Schema version of a database, and the migrations that lead to each version.
//!
//! A released migration is never edited: a change of the schema is a new file.

use super::database_location::DatabaseLocation;
use crate::StoreError;
use crate::sql::failure::Failure;
use rusqlite::Connection;

/// Application id `Heir`: distinguishes our databases from other SQLite files.
pub(super) const APPLICATION_ID: u32 = 0x4865_6972;

/// SQL of one migration. Its position in the list, from 1, is the schema version that it leads to.
pub(super) type Migration = &'static str;

/// All migrations.
pub(super) const MIGRATIONS: &[Migration] = &[
    include_str!("../../migrations/0001_records.sql"),
    include_str!("../../migrations/0002_audit.sql"),
    include_str!("../../migrations/0003_layers.sql"),
    include_str!("../../migrations/0004_receipts.sql"),
    include_str!("../../migrations/0005_receipts.sql"),
    include_str!("../../migrations/0006_locations.sql"),
    include_str!("../../migrations/0007_task_indexes.sql"),
    include_str!("../../migrations/0008_lanes.sql"),
];

/// First schema version with a search index.
pub(super) const INDEXED_FROM: u32 = 3;

/// Reads the schema version of an open database.
pub(super) fn version(connection: &Connection) -> Result<u32, Failure> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Returns the newest version in `known`.
pub(super) fn newest(known: &[Migration]) -> u32 {
    u32::try_from(known.len()).unwrap_or(u32::MAX)
}

/// Returns the schema version, from 1 to the newest in `known`.
pub(super) fn supported_version(
    connection: &Connection,
    place: &DatabaseLocation,
    known: &[Migration],
) -> Result<u32, Failure> {
    let id: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found = version(connection)?;
    if id != APPLICATION_ID || found == 0 {
        return Err(Failure::Damaged("it is not a Heirloom database".to_owned()));
    }
    refuse_unsupported(found, place, known)?;
    Ok(found)
}

/// Fails if another process has migrated the open database to a version that this program does not support.
pub(super) fn refuse_newer(
    connection: &Connection,
    place: &DatabaseLocation,
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached("PRAGMA user_version")?;
    let found = statement.query_row([], |row| row.get(0))?;
    refuse_unsupported(found, place, MIGRATIONS)
}

fn refuse_unsupported(
    found: u32,
    place: &DatabaseLocation,
    known: &[Migration],
) -> Result<(), Failure> {
    if found <= newest(known) {
        return Ok(());
    }
    Err(Failure::Store(StoreError::Newer {
        path: place.path(),
        found,
        known: newest(known),
    }))
}

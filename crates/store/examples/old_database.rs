//! Creates a database with the schema of the first version, for the crash campaign's migration scenario.
//!
//! usage: `old_database FILE PROJECT RECORDS`

use rusqlite::{Connection, params};
use std::error::Error;
use std::os::unix::fs::OpenOptionsExt;

/// First migration, which is never edited after its release.
const SCHEMA: &str = include_str!("../migrations/0001_records.sql");
/// Application id in the header of that version's databases.
const APPLICATION_ID: u32 = 0x4865_6972;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, project, records] = &args[..] else {
        return Err("usage: old_database FILE PROJECT RECORDS".into());
    };
    let records: u32 = records.parse()?;
    // That version created the file with private permissions.
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?;
    let mut connection = Connection::open(file)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", 1)?;
    transaction.execute(
        "INSERT INTO projects VALUES (1, ?1, 1777629600000000)",
        params![project],
    )?;
    // The ids are UUIDs of version 7; the time of each contains the number of the record.
    transaction.execute(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
         INSERT INTO records (project, id, kind, key, text, attrs, source, confidence, tokens, recorded_at)
         SELECT 1, unhex(printf('%012x7%03x8%015x', 1777629600000 + n, 0, n)), 'knowledge', 'k' || n,
           'record ' || n || ' of an old database, about a failure that took an hour to find',
           '{\"category\":\"fact\"}', 'user', 1.0, 20, 1777629600000000 + n * 1000
         FROM numbers",
        params![records],
    )?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

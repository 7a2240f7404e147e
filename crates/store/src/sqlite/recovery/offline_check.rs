//! Offline check of a database that may be damaged, without changing a byte of it.

use crate::StoreError;
use crate::relational::index;
use crate::sql::failure::Failure;
use crate::sqlite::backup::RowCounts;
use crate::sqlite::connection::{self, connect_without_checkpoint};
use crate::sqlite::database_files::database_path::existing_path;
use crate::sqlite::database_files::shm_reader::ShmHandle;
use crate::sqlite::database_files::wal_check;
use crate::sqlite::database_location::DatabaseLocation;
use crate::sqlite::{integrity, schema_version};
use heirloom_fs::durable;
use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Timestamp, clock};
use rusqlite::Connection;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Result of an offline check.
#[derive(Debug, Clone, PartialEq)]
pub struct OfflineCheckReport {
    /// Schema version of the database.
    pub schema_version: u32,
    /// Newest schema version that this program supports.
    pub newest_version: u32,
    /// Size on disk, write-ahead log included, bytes.
    pub size_bytes: u64,
    /// Description of an incomplete last transaction in the write-ahead log, as after a power failure. It was never
    /// acknowledged.
    pub incomplete_transaction: Option<String>,
    /// Damage of the file: pages, trees, and indexes that are inconsistent with their table.
    pub file_findings: Vec<String>,
    /// True if all damage of the file is in indexes, which can be rebuilt.
    pub is_index_damage_only: bool,
    /// References to missing rows.
    pub reference_findings: Vec<String>,
    /// Rows with content that the store could not have written.
    pub row_findings: Vec<String>,
    /// Inconsistencies between the search index and the records and messages; the index can be rebuilt.
    pub index_findings: Vec<String>,
    /// Row count of each table; empty if the rows could not be counted.
    pub counts: RowCounts,
    /// Time of the newest record.
    pub last_recorded_at: Option<Timestamp>,
}

impl OfflineCheckReport {
    /// Returns true if nothing was found.
    pub fn is_sound(&self) -> bool {
        self.has_only_index_damage() && self.index_findings.is_empty()
    }

    /// Returns true if every finding can be fixed by rebuilding the search index.
    pub(in crate::sqlite) fn has_only_index_damage(&self) -> bool {
        self.file_findings.is_empty()
            && self.reference_findings.is_empty()
            && self.row_findings.is_empty()
    }

    /// Iterates over all findings.
    pub fn findings(&self) -> impl Iterator<Item = &String> {
        let of_rows = self.reference_findings.iter().chain(&self.row_findings);
        self.file_findings
            .iter()
            .chain(of_rows)
            .chain(&self.index_findings)
    }
}

/// Checks the database at `path`. Errors: those of `SqliteStore::open`; an older version is not an error.
pub(in crate::sqlite) fn check(path: &Path) -> Result<OfflineCheckReport, StoreError> {
    let path = existing_path(path)?;
    // Must outlive the connection: see [`ShmHandle`].
    let shared = ShmHandle::new(&path);
    let place = DatabaseLocation::File(path);
    // Before SQLite opens it, which would accept a truncated log as complete.
    let whole = wal_check::check(&shared).and_then(|()| wal_check::check_frames(&shared));
    let looked = whole.and_then(|torn| shm(&place, torn));
    looked.map_err(|failure| failure.at(&place))
}

fn shm(place: &DatabaseLocation, torn: Option<String>) -> Result<OfflineCheckReport, Failure> {
    let connection = connect_without_checkpoint(place)?;
    let schema_version =
        schema_version::supported_version(&connection, place, schema_version::MIGRATIONS)?;
    // One snapshot for all tables, so that concurrent writes do not look like damage.
    let snapshot = connection.unchecked_transaction()?;
    let file = integrity::integrity(&connection)?;
    let mut found = OfflineCheckReport {
        schema_version,
        newest_version: schema_version::newest(schema_version::MIGRATIONS),
        size_bytes: integrity::describe(&connection, place)?.size_bytes,
        is_index_damage_only: !file.is_empty() && are_index_findings(&connection, &file),
        incomplete_transaction: torn,
        file_findings: file,
        reference_findings: Vec::new(),
        row_findings: Vec::new(),
        index_findings: Vec::new(),
        counts: RowCounts::new(),
        last_recorded_at: None,
    };
    if let Err(failure) = check_rows(&connection, &mut found)
        && found.file_findings.is_empty()
    {
        return Err(failure);
    }
    snapshot.rollback()?;
    if found.is_sound() {
        // From here on the close may checkpoint, as after any other command.
        connection::checkpoint_on_close(&connection)?;
    }
    Ok(found)
}

fn check_rows(connection: &Connection, found: &mut OfflineCheckReport) -> Result<(), Failure> {
    found.reference_findings = integrity::references(connection)?;
    found.row_findings = integrity::rows(connection)?;
    if found.schema_version >= schema_version::INDEXED_FROM {
        found.index_findings = index::check(connection.into())?;
    }
    found.counts = integrity::row_counts(connection)?;
    let sql = "SELECT max(recorded_at) FROM records";
    let last: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
    found.last_recorded_at = last.map(clock::from_micros);
    Ok(())
}

/// Returns true if the write-ahead log is damaged, and not the database.
pub(in crate::sqlite) fn is_journal_damaged(shm: &ShmHandle) -> bool {
    wal_check::check(shm)
        .and_then(|()| wal_check::check_frames(shm))
        .is_err()
}

/// Returns true if every finding is about an index.
fn are_index_findings(connection: &Connection, findings: &[String]) -> bool {
    let roots = || -> Result<Vec<u32>, Failure> {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'index'";
        let mut statement = connection.prepare(sql)?;
        let roots = statement.query_map([], |row| row.get(0))?;
        Ok(roots.collect::<Result<_, _>>()?)
    };
    let roots = roots().unwrap_or_default();
    findings.iter().all(|finding| {
        let tree = finding
            .split_once("Tree ")
            .and_then(|(_, rest)| rest.split(' ').next());
        let tree = tree.and_then(|number| number.parse().ok());
        tree.is_some_and(|root: u32| roots.contains(&root))
            || (finding.starts_with("row ") && finding.contains(" missing from index "))
            || finding.starts_with("wrong # of entries in index ")
            || finding.starts_with("non-unique entry in index ")
    })
}

/// Rebuilds the search index.
pub(in crate::sqlite) fn rebuild_search_index(path: &Path) -> Result<(), StoreError> {
    let place = DatabaseLocation::File(existing_path(path)?);
    let built = || -> Result<(), Failure> {
        let mut connection = connection::connect(&place)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        index::rebuild_all((&*transaction).into())?;
        transaction.commit()?;
        Ok(())
    };
    built().map_err(|failure| failure.at(&place))
}

/// Rebuilds all indexes if that is the only damage; returns true if the database is sound afterwards.
pub(in crate::sqlite) fn reindex(path: &Path) -> Result<bool, StoreError> {
    let place = DatabaseLocation::File(existing_path(path)?);
    let is_reindexed = || -> Result<bool, Failure> {
        let mut connection = connect_without_checkpoint(&place)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        transaction.execute_batch("REINDEX")?;
        let is_sound = integrity::check(&transaction)?.is_empty();
        if is_sound {
            transaction.commit()?;
        } else {
            transaction.rollback()?;
        }
        Ok(is_sound)
    };
    match is_reindexed().map_err(|failure| failure.at(&place)) {
        Err(StoreError::Damaged { .. } | StoreError::Backend(_)) => Ok(false),
        other => other,
    }
}

/// Reads a whole file, if it exists, into `bytes`. Returns it open, because closing it would release the locks that
/// this process holds on it.
pub(in crate::sqlite) fn read_and_keep_open(
    path: &Path,
    most: u64,
    bytes: &mut Vec<u8>,
) -> Result<Option<File>, StoreError> {
    let size = match path.metadata() {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(durable::failed("read", path, error).into()),
    };
    check_size(path, size, most)?;
    let opened = regular_file::open(path, LinkPolicy::Follow).map_err(FileReadError::into_io_error);
    let read = opened.and_then(|opened| {
        let mut file = opened.file;
        (&mut file).take(most).read_to_end(bytes)?;
        Ok(file)
    });
    read.map(Some)
        .map_err(|error| durable::failed("read", path, error).into())
}

/// Refuses a file that is too large to be salvaged in memory.
fn check_size(path: &Path, size: u64, most: u64) -> Result<(), StoreError> {
    if size > most {
        let problem = format!(
            "{} has {size} bytes; at most {most} can be recovered",
            path.to_escaped()
        );
        return Err(StoreError::Invalid(problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::limits::SALVAGE_BYTES_MAX;

    /// A file of exactly the limit would be read, which is too much for a test. The tests of `repair` cover a file
    /// above it.
    #[test]
    fn oversized_file_is_refused() {
        let path = Path::new("/p/heirloom.db");
        let most = SALVAGE_BYTES_MAX;
        check_size(path, 0, most).unwrap();
        check_size(path, most, most).unwrap();
        for size in [most + 1, u64::MAX] {
            let refused = check_size(path, size, most).unwrap_err().to_string();
            assert!(
                refused.contains(&most.to_string()) && refused.contains("/p/heirloom.db"),
                "{refused}"
            );
        }
    }
}

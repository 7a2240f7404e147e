//! Looking at a database that may be damaged, without changing a byte of it.

use super::backup::Counts;
use super::connect::{self, connect_untouched};
use super::failure::Failure;
use super::shared::Look;
use super::{Place, index, inspect, journal, migrate};
use crate::{StoreError, durable};
use heirloom_model::{Timestamp, clock};
use rusqlite::Connection;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// What a look at a database found.
#[derive(Debug, Clone, PartialEq)]
pub struct Examination {
    /// Its version of the schema, and the newest that this program knows.
    pub schema_version: u32,
    /// The newest version that this program knows.
    pub newest_version: u32,
    /// Bytes on disk, journal included.
    pub size_bytes: u64,
    /// Damage of the file: pages, trees, and indexes that do not say what their table says.
    pub file: Vec<String>,
    /// Whether all damage of the file is in indexes, which can be built anew.
    pub only_indexes: bool,
    /// Rows that refer to rows that are not there.
    pub references: Vec<String>,
    /// Rows that do not say what the store could have written.
    pub rows: Vec<String>,
    /// Whether the index says what records and messages say; it can be built anew.
    pub index: Vec<String>,
    /// How many rows each table has; empty if they could not be counted.
    pub counts: Counts,
    /// When the newest record was written.
    pub last_recorded_at: Option<Timestamp>,
}

impl Examination {
    /// Whether nothing was found.
    pub fn is_sound(&self) -> bool {
        self.is_sound_but_for_the_index() && self.index.is_empty()
    }

    /// Whether nothing was found that building the index anew would not mend.
    pub(super) fn is_sound_but_for_the_index(&self) -> bool {
        self.file.is_empty() && self.references.is_empty() && self.rows.is_empty()
    }

    /// Every finding.
    pub fn findings(&self) -> impl Iterator<Item = &String> {
        let of_rows = self.references.iter().chain(&self.rows);
        self.file.iter().chain(of_rows).chain(&self.index)
    }
}

/// Looks at the database at `path`. Errors are those of `SqliteStore::open`; an older version is none.
pub(super) fn examine(path: &Path) -> Result<Examination, StoreError> {
    let path = super::open::existing(path)?;
    // It outlives the connection: see there.
    let shared = Look::at(&path);
    let place = Place::File(path);
    // Before SQLite looks: it would take a journal that is cut short for one that was never longer.
    let looked = journal::check(&shared).and_then(|()| look(&place));
    looked.map_err(|failure| failure.at(&place))
}

fn look(place: &Place) -> Result<Examination, Failure> {
    let connection = connect_untouched(place)?;
    let schema_version = migrate::version_of_ours(&connection, place, migrate::MIGRATIONS)?;
    // One moment for all tables: what others write meanwhile would look like damage.
    let snapshot = connection.unchecked_transaction()?;
    let file = inspect::integrity(&connection)?;
    let mut found = Examination {
        schema_version,
        newest_version: migrate::newest(migrate::MIGRATIONS),
        size_bytes: inspect::describe(&connection, place)?.size_bytes,
        only_indexes: !file.is_empty() && are_of_indexes(&connection, &file),
        file,
        references: Vec::new(),
        rows: Vec::new(),
        index: Vec::new(),
        counts: Counts::new(),
        last_recorded_at: None,
    };
    if let Err(failure) = look_at_rows(&connection, &mut found)
        && found.file.is_empty()
    {
        return Err(failure);
    }
    snapshot.rollback()?;
    if found.is_sound() {
        // From here on closing may fold the journal back, as it does after any other command.
        connect::fold_on_close(&connection)?;
    }
    Ok(found)
}

fn look_at_rows(connection: &Connection, found: &mut Examination) -> Result<(), Failure> {
    found.references = inspect::references(connection)?;
    found.rows = inspect::rows(connection)?;
    if found.schema_version >= migrate::INDEXED_FROM {
        found.index = index::check(connection)?;
    }
    found.counts = inspect::row_counts(connection)?;
    let sql = "SELECT max(recorded_at) FROM records";
    let last: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
    found.last_recorded_at = last.map(clock::from_micros);
    Ok(())
}

/// Whether every finding is about an index.
fn are_of_indexes(connection: &Connection, findings: &[String]) -> bool {
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

/// Builds the index of words and meanings anew.
pub(super) fn index_anew(path: &Path) -> Result<(), StoreError> {
    let place = Place::File(super::open::existing(path)?);
    let built = || -> Result<(), Failure> {
        let mut connection = connect::connect(&place)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        index::rebuild_all(&transaction)?;
        transaction.commit()?;
        Ok(())
    };
    built().map_err(|failure| failure.at(&place))
}

/// Builds every index anew if that is all that is wrong; whether the database is sound now.
pub(super) fn reindex(path: &Path) -> Result<bool, StoreError> {
    let place = Place::File(super::open::existing(path)?);
    let mended = || -> Result<bool, Failure> {
        let mut connection = connect_untouched(&place)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        transaction.execute_batch("REINDEX")?;
        let is_sound = inspect::check(&transaction)?.is_empty();
        if is_sound {
            transaction.commit()?;
        } else {
            transaction.rollback()?;
        }
        Ok(is_sound)
    };
    match mended().map_err(|failure| failure.at(&place)) {
        Err(StoreError::Damaged { .. } | StoreError::Backend(_)) => Ok(false),
        other => other,
    }
}

/// Reads a whole file, if it is there, into `bytes`, and returns it open: closing it would give up the locks that
/// this process has on it.
pub(super) fn read_whole(
    path: &Path,
    most: u64,
    bytes: &mut Vec<u8>,
) -> Result<Option<File>, StoreError> {
    let size = match path.metadata() {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(durable::failed("read", path, error)),
    };
    check_size(path, size, most)?;
    let read = File::open(path).and_then(|mut file| {
        file.read_to_end(bytes)?;
        Ok(file)
    });
    read.map(Some)
        .map_err(|error| durable::failed("read", path, error))
}

/// Refuses what is too large to be recovered: all of it is held in memory.
fn check_size(path: &Path, size: u64, most: u64) -> Result<(), StoreError> {
    if size > most {
        let problem = format!(
            "{} has {size} bytes; at most {most} can be recovered",
            path.display()
        );
        return Err(StoreError::Invalid(problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::limits::SALVAGE_BYTES_MAX;

    /// A file at the cap would be read, which is too much for a test; one beyond it is refused before that,
    /// which the tests of `repair` see.
    #[test]
    fn what_is_recovered_has_a_largest_size() {
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

//! Reader of SQLite databases of other programs, for imports.
//!
//! The files are read into memory, the committed frames of the write-ahead log are applied there, and SQLite opens
//! the image. Nothing is written: no file appears next to the database, none of its locks is taken, and its owner may
//! use it meanwhile. The database is not trusted: its schema runs no functions, only tables are read, and their size
//! is limited.

use super::database_files::wal_frames;
use super::database_location::wal_path;
use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_model::foreign_table::{ForeignTable, ForeignValue};
use heirloom_model::limits::{
    FOREIGN_DATABASE_BYTES_MAX, FOREIGN_ROWS_MAX, FOREIGN_VALUE_BYTES_MAX,
};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, OptionalExtension};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// First bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Offsets of the write and read version in the header: 2 for a database with a write-ahead log, 1 for one without.
const VERSIONS: std::ops::Range<usize> = 18..20;
/// Offset of the page count in the header.
const PAGE_COUNT: std::ops::Range<usize> = 28..32;
/// Maximum number of times that the files are read again because their owner wrote meanwhile.
const READ_ATTEMPTS_MAX: usize = 5;
/// Number of virtual machine instructions between two checks of their total.
const INSTRUCTIONS_PER_CHECK: i32 = 1_000_000;
/// Maximum number of these checks in one query: some seconds of a query that computes and returns nothing.
const CHECKS_MAX: u32 = 2_000;

/// Error of reading a database of another program.
#[derive(Debug, thiserror::Error)]
pub enum ForeignDatabaseError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileReadError),
    /// The file is not an SQLite database.
    #[error("it is not an SQLite database")]
    NotSqlite,
    /// The database cannot be read completely now.
    #[error("{0}")]
    InUse(&'static str),
    /// The database has more rows than an import reads.
    #[error("it has more than {FOREIGN_ROWS_MAX} rows")]
    TooManyRows,
    /// The database is damaged, or a query failed.
    #[error("it is damaged or cannot be queried: {0}")]
    Damaged(String),
}

impl From<rusqlite::Error> for ForeignDatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// A database of another program in memory.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Connection,
    rows: usize,
}

impl ForeignDatabase {
    /// Reads the database at `path` with its write-ahead log; links are followed. Never writes.
    pub fn read(path: &Path) -> Result<Self, ForeignDatabaseError> {
        Self::from_image(read_image(path)?)
    }

    fn from_image(mut image: Vec<u8>) -> Result<Self, ForeignDatabaseError> {
        if image.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(ForeignDatabaseError::NotSqlite);
        }
        // An image in memory has no write-ahead log.
        if let Some(versions) = image.get_mut(VERSIONS) {
            versions.fill(1);
        }
        let mut connection = Connection::open_in_memory()?;
        let size = image.len();
        connection.deserialize_read_exact(MAIN_DB, Cursor::new(image), size, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, FOREIGN_VALUE_BYTES_MAX)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        // Reads the schema, so that damage is found here.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let rows = 0;
        Ok(Self { connection, rows })
    }

    /// Returns true if the database has this table; views and virtual tables are not tables.
    pub fn has_table(&self, table: &str) -> Result<bool, ForeignDatabaseError> {
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let created = self.connection.query_row(sql, [table], |row| {
            Ok(row.get_ref(0)?.as_str().unwrap_or_default().to_owned())
        });
        let created = created.optional()?;
        Ok(created.is_some_and(|sql| !is_virtual(&sql)))
    }

    /// Reads these columns of a table in the order of its rows; missing columns are left out. `None` if the table is
    /// missing.
    pub fn table(
        &mut self,
        table: &str,
        columns: &[&str],
    ) -> Result<Option<ForeignTable>, ForeignDatabaseError> {
        if !self.has_table(table)? {
            return Ok(None);
        }
        let existing = self.columns(table)?;
        let columns: Vec<String> = columns
            .iter()
            .filter(|column| existing.iter().any(|name| name == *column))
            .map(|column| (*column).to_owned())
            .collect();
        if columns.is_empty() {
            return Ok(Some(ForeignTable::default()));
        }
        let quoted: Vec<_> = columns.iter().map(|column| quote(column)).collect();
        let sql = format!("SELECT {} FROM {}", quoted.join(", "), quote(table));
        let mut checks = 0;
        let is_endless = move || {
            checks += 1;
            checks > CHECKS_MAX
        };
        self.connection
            .progress_handler(INSTRUCTIONS_PER_CHECK, Some(is_endless))?;
        let mut statement = self.connection.prepare(&sql)?;
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            self.rows += 1;
            if self.rows > FOREIGN_ROWS_MAX {
                return Err(ForeignDatabaseError::TooManyRows);
            }
            let values = (0..columns.len()).map(|column| row.get_ref(column).map(to_value));
            rows.push(values.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Some(ForeignTable { columns, rows }))
    }

    fn columns(&self, table: &str) -> Result<Vec<String>, ForeignDatabaseError> {
        let sql = "SELECT name FROM pragma_table_info(?1)";
        let mut statement = self.connection.prepare(sql)?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }
}

/// Reads the files of a database as one image of its last commit.
fn read_image(path: &Path) -> Result<Vec<u8>, ForeignDatabaseError> {
    if path
        .metadata()
        .is_ok_and(|found| found.len() > FOREIGN_DATABASE_BYTES_MAX)
    {
        let size = path.metadata().map_or(0, |found| found.len());
        return Err(FileReadError::TooLarge(size).into());
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for _ in 0..READ_ATTEMPTS_MAX {
        let before = stamps(&path);
        let image = regular_file::read(&path, LinkPolicy::Follow, FOREIGN_DATABASE_BYTES_MAX)?;
        if image.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(ForeignDatabaseError::NotSqlite);
        }
        if has_rollback_journal(&path) {
            return Err(ForeignDatabaseError::InUse(
                "its program was interrupted or is writing to it: open and close that program, then repeat the import",
            ));
        }
        let rest = FOREIGN_DATABASE_BYTES_MAX.saturating_sub(image.len() as u64);
        let log = match regular_file::read(&wal_path(&path), LinkPolicy::Refuse, rest) {
            Ok(log) => log,
            Err(FileReadError::Missing) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        if stamps(&path) == before {
            return Ok(apply_log(image, &log));
        }
    }
    Err(ForeignDatabaseError::InUse(
        "its program writes to it all the time: close that program, then repeat the import",
    ))
}

/// Length and modification time of the database and its log.
fn stamps(path: &Path) -> [Option<(u64, std::time::SystemTime)>; 2] {
    let stamp = |path: &Path| {
        let found = path.metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    [stamp(path), stamp(&wal_path(path))]
}

/// Returns true if a rollback journal has a header: then the database may have a part of a transaction.
fn has_rollback_journal(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    let journal = regular_file::read(
        &PathBuf::from(name),
        LinkPolicy::Refuse,
        FOREIGN_DATABASE_BYTES_MAX,
    );
    match journal {
        Ok(bytes) => bytes.iter().take(8).any(|byte| *byte != 0),
        Err(FileReadError::Missing) => false,
        Err(_) => true,
    }
}

/// Applies the committed pages of a write-ahead log to the image of a database.
fn apply_log(mut image: Vec<u8>, log: &[u8]) -> Vec<u8> {
    let found = wal_frames::scan(log, None);
    let Some(page_size) = found.page_size else {
        return image;
    };
    for (number, page) in &found.pages {
        let Some(start) = usize::try_from(*number)
            .ok()
            .and_then(|number| number.checked_sub(1)?.checked_mul(page_size))
        else {
            continue;
        };
        let end = start.saturating_add(page.len());
        if end as u64 > FOREIGN_DATABASE_BYTES_MAX {
            continue;
        }
        if image.len() < end {
            image.resize(end, 0);
        }
        if let Some(target) = image.get_mut(start..end) {
            target.copy_from_slice(page);
        }
    }
    // The header page of the last commit has the page count: what follows was cut off by a vacuum.
    let pages = image
        .get(PAGE_COUNT)
        .and_then(|bytes| bytes.try_into().ok());
    let pages = pages.map_or(0, u32::from_be_bytes);
    let size = usize::try_from(pages)
        .unwrap_or(0)
        .saturating_mul(page_size);
    if !found.pages.is_empty() && size > 0 && size < image.len() {
        image.truncate(size);
    }
    image
}

fn is_virtual(sql: &str) -> bool {
    let mut words = sql.split_whitespace();
    let second = words.nth(1).unwrap_or_default();
    second.eq_ignore_ascii_case("virtual")
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn to_value(value: ValueRef<'_>) -> ForeignValue {
    match value {
        ValueRef::Null => ForeignValue::Null,
        ValueRef::Integer(number) => ForeignValue::Integer(number),
        ValueRef::Real(number) => ForeignValue::Real(number),
        ValueRef::Text(text) => ForeignValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => ForeignValue::Blob(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests;

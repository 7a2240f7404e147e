//! SQLite connections: settings and checkpoint behaviour on close.

use super::busy_backoff::busy_handler;
use super::database_location::DatabaseLocation;
use crate::sql::failure::Failure;
use heirloom_model::limits::{BUSY_TIMEOUT_MS, RECEIPT_WAIT_MS};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Pages in the write-ahead log that trigger a checkpoint: 4 MB. A write takes five to ten pages, so less than one in
/// a hundred pays for a checkpoint. A sync costs twice as much while the log file still grows, so a higher limit
/// makes the first writes slow.
const CHECKPOINT_PAGES: u32 = 1_000;
/// Size limit of a write-ahead log that is left on close, bytes: recovering it takes less than a millisecond.
const JOURNAL_LEFT_BYTES: u64 = 1 << 20;
/// Page cache of the writing connection, KiB, allocated on demand: the inner pages of every index of a million
/// records, and recently read pages.
const CACHE_KIB: u32 = 4_096;
/// Page cache of a reading connection, KiB.
const READER_CACHE_KIB: u32 = 3_072;
/// Page cache of a short-lived process, KiB.
const SHORT_CACHE_KIB: u32 = 256;
/// Prepared statements that a connection caches: all fixed ones and the usual queries.
const STATEMENTS_CACHED: usize = 64;

const READ_AND_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// Access mode of an open database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Full access.
    Full,
    /// Full access under an exclusive lock: no other process can use the database meanwhile.
    Exclusive,
    /// Read-only, because the folder has no write permission.
    ReadOnly,
}

/// Opens a connection to the existing file at `place` and sets it up without reading data.
pub(super) fn connect(place: &DatabaseLocation) -> Result<Connection, Failure> {
    let connection = connect_without_checkpoint(place)?;
    checkpoint_on_close(&connection)?;
    Ok(connection)
}

/// Opens a connection that does not checkpoint on close: a process that finds the file damaged must not have copied
/// the write-ahead log into it.
pub(super) fn connect_without_checkpoint(place: &DatabaseLocation) -> Result<Connection, Failure> {
    let mut connection = Connection::open_with_flags(place.path(), READ_AND_WRITE)?;
    // Before anything else, because the settings below read the schema.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Opens a read-only connection, which leaves checkpoints to the writing one.
pub(super) fn connect_reader(place: &DatabaseLocation) -> Result<Connection, Failure> {
    let connection = connect_without_checkpoint(place)?;
    connection.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA cache_size = -{READER_CACHE_KIB};"
    ))?;
    Ok(connection)
}

/// Reduces the page cache to that of a short-lived process.
pub(super) fn shrink_page_cache(connection: &Connection) -> Result<(), Failure> {
    Ok(connection.pragma_update(None, "cache_size", -i64::from(SHORT_CACHE_KIB))?)
}

/// Enables the checkpoint of the last connection that closes the database.
pub(super) fn checkpoint_on_close(connection: &Connection) -> Result<(), Failure> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Runs `work` without a sync at its end and with a short busy timeout, and skips the close checkpoint if the
/// write-ahead log is short. A long log is checkpointed: the next process to open the database recovers all of it,
/// and would have to checkpoint it each time, because the progress of a checkpoint is not stored.
pub(super) fn without_sync<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    set_busy_timeout(connection, RECEIPT_WAIT_MS)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let done = work(connection);
    connection.pragma_update(None, "synchronous", "FULL")?;
    set_busy_timeout(connection, BUSY_TIMEOUT_MS)?;
    let done = done?;
    skip_close_checkpoint_if_short(connection)?;
    Ok(done)
}

/// Skips the close checkpoint if the write-ahead log is short.
pub(super) fn skip_close_checkpoint_if_short(connection: &Connection) -> Result<(), Failure> {
    let is_short = wal_bytes(connection) <= JOURNAL_LEFT_BYTES;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_short)?;
    Ok(())
}

/// Returns the size of the write-ahead log, bytes.
fn wal_bytes(connection: &Connection) -> u64 {
    let journal = connection.path().map(|path| format!("{path}-wal"));
    // Without the file there is nothing to checkpoint.
    let found = journal.and_then(|path| std::fs::metadata(path).ok());
    found.map_or(0, |found| found.len())
}

/// Opens a connection with exclusive locking, which needs no shared-memory file. Other processes wait until it
/// closes.
pub(super) fn connect_exclusive(place: &DatabaseLocation) -> Result<Connection, Failure> {
    let mut connection = Connection::open_with_flags(place.path(), READ_AND_WRITE)?;
    // Before the first read: a connection that has begun to share the file cannot change to exclusive locking.
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Opens a database in a folder without write permission: reads the file as immutable and takes no locks.
pub(super) fn connect_immutable(path: &Path) -> Result<Connection, Failure> {
    let mut address = String::from("file:");
    if cfg!(windows) {
        // The path begins with a drive, and URIs separate folders with `/`.
        address.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b':' if cfg!(windows) => address.push(':'),
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(address, flags)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Sets the busy timeout of the connection.
pub(super) fn set_busy_timeout(connection: &mut Connection, wait_ms: u64) -> Result<(), Failure> {
    Ok(connection.busy_handler(Some(busy_handler(wait_ms)))?)
}

/// Applies the settings of every connection. None of them reads more of the file than its schema.
///
/// Memory-mapped reads stay off: truncating a mapped file kills the process instead of failing a call. Temporary
/// tables stay in memory, so that nothing is written outside the project's folder.
pub(super) fn set_up(connection: &mut Connection) -> Result<(), Failure> {
    set_busy_timeout(connection, BUSY_TIMEOUT_MS)?;
    // Every query names its index, so bound values never change a plan. Without this setting each statement is
    // prepared twice, an eighth of the run time of a process that prints a context.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The schema has none, so those in a database of someone else must not run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.execute_batch(&format!(
        "PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA temp_store = MEMORY;
         PRAGMA synchronous = FULL;
         PRAGMA cache_size = -{CACHE_KIB};
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};"
    ))?;
    Ok(())
}

/// Ensures that the database is in WAL mode. The mode is stored in the file; a copy by another program may have lost
/// it.
pub(super) fn ensure_wal_mode(connection: &Connection) -> Result<(), Failure> {
    let mode = |row: &rusqlite::Row<'_>| row.get(0);
    let found: String = connection.pragma_query_value(None, "journal_mode", mode)?;
    if found != "wal" {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    }
    Ok(())
}

/// Rewrites the file without free pages (VACUUM) and truncates the write-ahead log, so that no deleted content is
/// left in them. Returns true if another process still uses the log.
pub(super) fn sweep(connection: &Connection) -> Result<bool, Failure> {
    connection.execute_batch("VACUUM")?;
    let in_use = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(in_use != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsynced_write_has_short_timeout() {
        const { assert!(RECEIPT_WAIT_MS * 10 < BUSY_TIMEOUT_MS) };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (x)").unwrap();
        let mut waiting = connect(&DatabaseLocation::File(path)).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let write =
            |waiting: &mut Connection| Ok(waiting.execute_batch("INSERT INTO t VALUES (1)")?);
        assert!(without_sync(&mut waiting, write).is_err());
        holder.execute_batch("ROLLBACK").unwrap();
        assert!(without_sync(&mut waiting, write).is_ok());
    }

    #[test]
    fn busy_error_contains_timeout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (x)").unwrap();
        let place = DatabaseLocation::File(path);
        let mut waiting = connect(&place).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        set_busy_timeout(&mut waiting, 20).unwrap();
        let error = waiting
            .execute_batch("INSERT INTO t VALUES (1)")
            .unwrap_err();
        let message = Failure::from(error).at(&place).to_string();
        assert!(
            message.contains(&format!("{BUSY_TIMEOUT_MS} ms")),
            "{message}"
        );
    }
}

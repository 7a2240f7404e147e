//! A connection: how it is set up, and how it waits for others.

use super::failure::Failure;
use super::{Place, STATEMENTS_CACHED};
use heirloom_model::limits::BUSY_TIMEOUT_MS;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Pages in the journal after which it is carried over into the database: 4 MB. A write takes five to ten
/// pages, so that less than one in a hundred pays for it. A sync costs twice as much while the journal's file
/// still grows, so a larger one makes the first writes slow.
const CHECKPOINT_PAGES: u32 = 1_000;
/// Memory for pages, KiB, taken as it is needed: the indexes of 100,000 records.
const CACHE_KIB: u32 = 16_384;

const READ_AND_WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection to the existing file at `place`, set up but not looked at yet.
pub(super) fn connect(place: &Place) -> Result<Connection, Failure> {
    let mut connection = Connection::open_with_flags(place.path(), READ_AND_WRITE)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// A connection that shares the database with nobody, and so needs no file to share: others wait for its end.
pub(super) fn connect_alone(place: &Place) -> Result<Connection, Failure> {
    let mut connection = Connection::open_with_flags(place.path(), READ_AND_WRITE)?;
    // Before anything reads the file: whoever has begun to share goes on sharing.
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// A connection to a database whose folder may not be written: it reads the file as it stands and locks nothing.
pub(super) fn connect_unchanging(path: &Path) -> Result<Connection, Failure> {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(address, flags)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Lets the connection wait for others for so long, not longer.
pub(super) fn wait_at_most(connection: &mut Connection, wait_ms: u64) -> Result<(), Failure> {
    Ok(connection.busy_handler(Some(patience(wait_ms)))?)
}

/// Settings of every connection. None of them reads the file.
///
/// No memory-mapped reads: a file that is cut short under a mapping kills the process instead of failing a
/// call. Temporary tables stay in memory, so that nothing is spilled outside the project's folder.
pub(super) fn set_up(connection: &mut Connection) -> Result<(), Failure> {
    wait_at_most(connection, BUSY_TIMEOUT_MS)?;
    // Every query names its index, so what is bound never changes a plan: without this each statement is
    // prepared twice, an eighth of what a process does that prints a context.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
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

/// Sees to it that the file has a write-ahead log. The mode is kept in the file; a copy that another
/// program made of it may have lost it.
pub(super) fn keep_journal(connection: &Connection) -> Result<(), Failure> {
    let mode = |row: &rusqlite::Row<'_>| row.get(0);
    let found: String = connection.pragma_query_value(None, "journal_mode", mode)?;
    if found != "wal" {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    }
    Ok(())
}

/// Waits for another process in sleeps of one to two milliseconds, of random length so that many waiting
/// processes do not wake in step; gives up after the longest wait.
fn patience(wait_ms: u64) -> impl FnMut(i32) -> bool + Send + 'static {
    let jitter = RandomState::new();
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        if since.elapsed() >= Duration::from_millis(wait_ms) {
            return false;
        }
        let micros = 1_000 + jitter.hash_one((attempt, since)) % 1_000;
        thread::sleep(Duration::from_micros(micros));
        true
    }
}

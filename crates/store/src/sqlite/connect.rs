//! A connection: how it is set up, and how it waits for others.

use super::failure::Failure;
use super::{Place, STATEMENTS_CACHED};
use heirloom_model::limits::BUSY_TIMEOUT_MS;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

/// Pages in the journal after which it is carried over into the database: 4 MB. A write takes five to ten
/// pages, so that less than one in a hundred pays for it. A sync costs twice as much while the journal's file
/// still grows, so a larger one makes the first writes slow.
const CHECKPOINT_PAGES: u32 = 1_000;
/// Memory for pages, KiB, taken as it is needed: the indexes of 100,000 records.
const CACHE_KIB: u32 = 16_384;

/// A connection to the existing file at `place`, set up but not looked at yet.
pub(super) fn connect(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(place.path(), flags)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Settings of every connection. None of them reads the file.
///
/// No memory-mapped reads: a file that is cut short under a mapping kills the process instead of failing a
/// call. Temporary tables stay in memory, so that nothing is spilled outside the project's folder.
pub(super) fn set_up(connection: &mut Connection) -> Result<(), Failure> {
    let longest = Duration::from_millis(BUSY_TIMEOUT_MS);
    connection.busy_handler(Some(patience(longest)))?;
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
fn patience(longest: Duration) -> impl FnMut(i32) -> bool + Send + 'static {
    let jitter = RandomState::new();
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        if since.elapsed() >= longest {
            return false;
        }
        let micros = 1_000 + jitter.hash_one((attempt, since)) % 1_000;
        thread::sleep(Duration::from_micros(micros));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_after_the_longest_wait() {
        let mut waits = patience(Duration::from_millis(20));
        let begun = Instant::now();
        assert!((0..).any(|attempt| !waits(attempt)));
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let mut waits = patience(Duration::from_millis(BUSY_TIMEOUT_MS));
        assert!((0..10).all(&mut waits), "each wait begins anew");
    }

    #[test]
    fn the_error_says_how_long_the_wait_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (x)").unwrap();
        let place = Place::File(path);
        let mut waiting = connect(&place).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let impatient = patience(Duration::from_millis(20));
        waiting.busy_handler(Some(impatient)).unwrap();
        let error = waiting
            .execute_batch("INSERT INTO t VALUES (1)")
            .unwrap_err();
        let said = Failure::from(error).at(&place).to_string();
        assert!(said.contains(&format!("{BUSY_TIMEOUT_MS} ms")), "{said}");
    }
}

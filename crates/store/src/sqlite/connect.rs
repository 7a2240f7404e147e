//! A connection: how it is set up, and how it waits for others.

use super::failure::Failure;
use super::{Place, STATEMENTS_CACHED};
use heirloom_model::limits::{BUSY_TIMEOUT_MS, RECEIPT_WAIT_MS};
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
/// Longest journal that is left behind, bytes: reading it takes less than a millisecond.
const JOURNAL_LEFT_BYTES: u64 = 1 << 20;
/// Memory for pages, KiB, taken as it is needed: the inner pages of every index of a million records, and what was read last.
const CACHE_KIB: u32 = 4_096;
/// The same, of each connection that only reads beside the one that writes.
const READER_CACHE_KIB: u32 = 3_072;
/// The same, of a process that asks or writes once.
const SHORT_CACHE_KIB: u32 = 256;
/// First pause of a writer that found another one at work, microseconds: the length of a write or two.
const PAUSE_FIRST_US: u64 = 500;
/// Longest pause, of a wait that is not old yet, microseconds.
const PAUSE_YOUNG_US: u64 = 16_000;
/// Pause of an old wait, microseconds: forty who try that often take a tenth of a processor.
const PAUSE_OLD_US: u64 = 1_000;
/// What is divided by the square of the time waited, in milliseconds, for the pause in between: a wait is
/// old after 32 ms, which is what forty writers take for one write each.
const PAUSE_AGED_US_MS2: u64 = 1_000_000;

const READ_AND_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// A connection to the existing file at `place`, set up but not looked at yet.
pub(super) fn connect(place: &Place) -> Result<Connection, Failure> {
    let connection = connect_untouched(place)?;
    fold_on_close(&connection)?;
    Ok(connection)
}

/// A connection that leaves the file and its journal as they are when it is closed: who finds that the file is
/// damaged must not have carried the journal over into it.
pub(super) fn connect_untouched(place: &Place) -> Result<Connection, Failure> {
    let mut connection = Connection::open_with_flags(place.path(), READ_AND_WRITE)?;
    // Before anything else: the settings below read the schema.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// A connection beside the one that writes: it leaves the journal to that.
pub(super) fn connect_reader(place: &Place) -> Result<Connection, Failure> {
    let connection = connect_untouched(place)?;
    connection.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA cache_size = -{READER_CACHE_KIB};"
    ))?;
    Ok(connection)
}

/// From here on the connection keeps few pages.
pub(super) fn keep_few_pages(connection: &Connection) -> Result<(), Failure> {
    Ok(connection.pragma_update(None, "cache_size", -i64::from(SHORT_CACHE_KIB))?)
}

/// From here on the last one that closes the database carries its journal over.
pub(super) fn fold_on_close(connection: &Connection) -> Result<(), Failure> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Carries `work` out without a sync at its end and without waiting long for others, and leaves a short journal
/// where it is when the connection is closed. A long one is carried over: who opens the database next reads all of
/// what is left of it, and would have to carry it over again and again, because nobody remembers that it was.
pub(super) fn unsynced<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    wait_at_most(connection, RECEIPT_WAIT_MS)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let done = work(connection);
    connection.pragma_update(None, "synchronous", "FULL")?;
    wait_at_most(connection, BUSY_TIMEOUT_MS)?;
    let done = done?;
    leave_short_journal(connection)?;
    Ok(done)
}

/// From here on a short journal stays where it is when the connection is closed.
pub(super) fn leave_short_journal(connection: &Connection) -> Result<(), Failure> {
    let is_short = journal_bytes(connection) <= JOURNAL_LEFT_BYTES;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_short)?;
    Ok(())
}

/// How long the journal of a database is.
fn journal_bytes(connection: &Connection) -> u64 {
    let journal = connection.path().map(|path| format!("{path}-wal"));
    // Where there is no such file, there is nothing to carry over.
    let found = journal.and_then(|path| std::fs::metadata(path).ok());
    found.map_or(0, |found| found.len())
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
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(address, flags)?;
    set_up(&mut connection)?;
    Ok(connection)
}

/// Lets the connection wait for others for so long, not longer.
pub(super) fn wait_at_most(connection: &mut Connection, wait_ms: u64) -> Result<(), Failure> {
    Ok(connection.busy_handler(Some(patience(wait_ms)))?)
}

/// Settings of every connection. None of them reads more of the file than its schema.
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

/// Waits for another process; gives up after the longest wait.
///
/// Nobody tells a writer that the lock is free, so all who wait try again and again, and who tries first has
/// it. So that nobody is passed over many times, a wait that grows old tries more often than a young one:
/// see [`pause_us`]. Pauses are of random length so that many waiting processes do not wake in step.
fn patience(wait_ms: u64) -> impl FnMut(i32) -> bool + Send + 'static {
    let jitter = RandomState::new();
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        let waited = since.elapsed();
        if waited >= Duration::from_millis(wait_ms) {
            return false;
        }
        let usual_us = pause_us(attempt, waited);
        let random = jitter.hash_one((attempt, since)) % usual_us;
        thread::sleep(Duration::from_micros(usual_us / 2 + random));
        true
    }
}

/// The usual pause after a failed attempt, microseconds.
///
/// A newcomer tries soon, because most often only one other writes, and then steps back. From then on the
/// pause falls with the square of the time waited, so that the old come before the young. It never falls so
/// low that those who wait would take the processor from the one who writes.
fn pause_us(attempt: i32, waited: Duration) -> u64 {
    let doubled = PAUSE_FIRST_US << attempt.clamp(0, 16);
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    let aged = PAUSE_AGED_US_MS2 / waited_ms.saturating_mul(waited_ms).max(1);
    doubled.min(PAUSE_YOUNG_US).min(aged.max(PAUSE_OLD_US))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_wait_tries_more_often_than_a_young_one() {
        let pause = |attempt, waited_ms| pause_us(attempt, Duration::from_millis(waited_ms));
        let first: Vec<u64> = (0..7).map(|attempt| pause(attempt, 0)).collect();
        assert_eq!(first, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
        let aged = [1, 8, 16, 20, 25, 32, 100, 29_999].map(|waited_ms| pause(9, waited_ms));
        assert_eq!(
            aged,
            [16_000, 15_625, 3_906, 2_500, 1_600, 1_000, 1_000, 1_000]
        );
        assert_eq!(pause(i32::MAX, u64::MAX), 1_000);
        assert_eq!(pause(-1, 0), 500);
    }

    #[test]
    fn patience_ends_after_the_longest_wait() {
        let mut waits = patience(20);
        let begun = Instant::now();
        assert!((0..).any(|attempt| !waits(attempt)));
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let mut waits = patience(BUSY_TIMEOUT_MS);
        assert!((0..10).all(&mut waits), "each wait begins anew");
    }

    #[test]
    fn what_need_not_be_kept_waits_shortly() {
        const { assert!(RECEIPT_WAIT_MS * 10 < BUSY_TIMEOUT_MS) };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("CREATE TABLE t (x)").unwrap();
        let mut waiting = connect(&Place::File(path)).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let write =
            |waiting: &mut Connection| Ok(waiting.execute_batch("INSERT INTO t VALUES (1)")?);
        assert!(unsynced(&mut waiting, write).is_err());
        holder.execute_batch("ROLLBACK").unwrap();
        assert!(unsynced(&mut waiting, write).is_ok());
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
        wait_at_most(&mut waiting, 20).unwrap();
        let error = waiting
            .execute_batch("INSERT INTO t VALUES (1)")
            .unwrap_err();
        let said = Failure::from(error).at(&place).to_string();
        assert!(said.contains(&format!("{BUSY_TIMEOUT_MS} ms")), "{said}");
    }
}

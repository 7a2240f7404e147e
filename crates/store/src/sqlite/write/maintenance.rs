//! Background maintenance thread: runs WAL checkpoints and index merges that concurrent writers defer.
//!
//! Otherwise a writer would run them at the end of a write, and all queued writers would wait. A single-threaded
//! process never starts this thread.

use crate::relational::index;
use crate::sql::failure::Failure;
use crate::sqlite::connection::{connect_reader, connect_without_checkpoint, set_busy_timeout};
use crate::sqlite::database_files::file_identity::{FileIdentity, file_identity};
use crate::sqlite::database_files::shm_reader::ShmHandle;
use crate::sqlite::database_files::wal_check;
use crate::sqlite::database_location::DatabaseLocation;
use heirloom_model::limits::RECEIPT_WAIT_MS;
use rusqlite::{Connection, TransactionBehavior};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pages in the write-ahead log that trigger a checkpoint.
const CHECKPOINT_PAGES: u32 = 1_000;
/// Length at which the write-ahead log is restarted as soon as few pages are left to checkpoint: 64 MB.
const RESTART_PAGES: u32 = 16_000;
/// Few pages: a writer that checkpoints them hardly notices.
const REMAINDER_PAGES: u32 = 128;
/// Maximum number of consecutive checkpoint attempts before a larger remainder is accepted.
const CHECKPOINT_ATTEMPTS: u32 = 4;
/// Time without a write after which the store is idle.
const IDLE: Duration = Duration::from_millis(100);
/// Maximum number of attempts to merge while other processes hold the database.
const MERGE_ATTEMPTS: u32 = 20;
/// Length of the write-ahead log at which a writer checkpoints it after all, because this thread has not kept up.
pub(in crate::sqlite) const WRITER_CHECKPOINT_PAGES: u32 = 32_000;

/// Handle of the maintenance thread; dropping it stops and joins the thread.
#[derive(Debug)]
pub(in crate::sqlite) struct MaintenanceThread {
    shared: Arc<SharedSignals>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedSignals {
    signals: Mutex<Signals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Signals {
    wrote: bool,
    is_stopping: bool,
    /// True if the log is long and nearly all of it is checkpointed.
    is_restart_due: bool,
}

impl SharedSignals {
    fn signals(&self) -> MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a write or for the stop signal; with `at_most_until_quiet` also until the store is idle.
    fn wait(&self, at_most_until_quiet: bool) -> MutexGuard<'_, Signals> {
        let is_calm = |signals: &mut Signals| !signals.wrote && !signals.is_stopping;
        let signals = self.signals();
        if at_most_until_quiet {
            let waited = self.changed.wait_timeout_while(signals, IDLE, is_calm);
            return waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let waited = self.changed.wait_while(signals, is_calm);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl MaintenanceThread {
    /// Starts maintenance of the database at `place` for as long as it is this file. `None` if the thread cannot be
    /// started.
    pub(in crate::sqlite) fn start(place: &DatabaseLocation, file: FileIdentity) -> Option<Self> {
        let shared = Arc::<SharedSignals>::default();
        let (place, theirs) = (place.clone(), Arc::clone(&shared));
        let thread = thread::Builder::new().name("journal".to_owned());
        // Without the thread, writers checkpoint as usual.
        let thread = thread.spawn(move || run(&place, file, &theirs)).ok()?;
        Some(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Notifies the thread of a write. Returns true if the writer should checkpoint the small remainder, so that the
    /// write-ahead log restarts: that is possible only while no other thread writes.
    pub(in crate::sqlite) fn notify_write(&self) -> bool {
        let mut signals = self.shared.signals();
        signals.wrote = true;
        let is_due = std::mem::take(&mut signals.is_restart_due);
        drop(signals);
        self.shared.changed.notify_one();
        is_due
    }
}

impl Drop for MaintenanceThread {
    fn drop(&mut self) {
        self.shared.signals().is_stopping = true;
        self.shared.changed.notify_one();
        // A panicked thread has ended too.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn run(place: &DatabaseLocation, file: FileIdentity, shared: &SharedSignals) {
    let path = place.path();
    let is_same = || file_identity(&path) == file;
    let shm = ShmHandle::new(&path);
    // Errors are left to the writers, which then checkpoint themselves.
    let opened = is_same().then(|| connect_reader(place).ok()).flatten();
    let Some(connection) = opened.filter(|_| is_same()) else {
        return;
    };
    // Remaining merge attempts; 0 if no merge is deferred.
    let mut tries = 0;
    loop {
        let mut signals = shared.wait(tries > 0);
        if signals.wrote {
            signals.wrote = false;
            drop(signals);
            tries = MERGE_ATTEMPTS;
            let is_due = checkpoint(&connection, &shm);
            shared.signals().is_restart_due = is_due;
            continue;
        }
        let ends = signals.is_stopping;
        drop(signals);
        if tries > 0 {
            // Errors are left to the writers, which merge themselves when the tail gets too long.
            let is_done = merge(place, file, || !shared.signals().wrote).is_ok();
            tries = if is_done { 0 } else { tries - 1 };
        }
        if ends {
            return;
        }
    }
}

/// Checkpoints as much as readers allow. Returns true if a writer should do the rest and restart the log.
fn checkpoint(connection: &Connection, shm: &ShmHandle) -> bool {
    for _ in 0..CHECKPOINT_ATTEMPTS {
        let waits = wal_check::page_counts(shm).is_some_and(|(all, waiting)| {
            waiting >= CHECKPOINT_PAGES || (all >= RESTART_PAGES && waiting >= REMAINDER_PAGES)
        });
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        if waits && connection.query_row(sql, [], |_| Ok(())).is_err() {
            return false;
        }
        match wal_check::page_counts(shm) {
            Some((all, waiting)) if all >= RESTART_PAGES && waiting >= REMAINDER_PAGES => {}
            Some((all, _)) => return all >= RESTART_PAGES,
            None => return false,
        }
    }
    false
}

/// Merges the deferred tail part by part while `may_go_on` returns true.
fn merge(
    place: &DatabaseLocation,
    file: FileIdentity,
    may_go_on: impl Fn() -> bool,
) -> Result<(), Failure> {
    let path = place.path();
    let mut connection = connect_without_checkpoint(place)?;
    // The merge can be retried later, and on close the caller waits for it.
    set_busy_timeout(&mut connection, RECEIPT_WAIT_MS)?;
    while may_go_on() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // While holding the write lock, because a process that replaces the file holds it meanwhile.
        if file_identity(&path) != file || !index::merge_next_part((&*transaction).into())? {
            break;
        }
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteStore;

    #[test]
    fn long_log_is_checkpointed_during_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        let writer = store.lock();
        writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        let (place, file) = store.readers.as_ref().unwrap().place();
        let shm = ShmHandle::new(&path);
        let maintenance = MaintenanceThread::start(place, file).unwrap();
        let pages = RESTART_PAGES + CHECKPOINT_PAGES;
        let sql = format!(
            "CREATE TABLE filler (x); \
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {pages}) \
             INSERT INTO filler SELECT zeroblob(4000) FROM n;"
        );
        writer.execute_batch(&sql).unwrap();
        let (all, waiting) = wal_check::page_counts(&shm).unwrap();
        assert!(
            all >= pages && waiting >= CHECKPOINT_PAGES,
            "{all} {waiting}"
        );
        // The writer keeps its connection all the time.
        while !maintenance.notify_write() {
            thread::yield_now();
        }
        let (_, waiting) = wal_check::page_counts(&shm).unwrap();
        assert!(waiting < CHECKPOINT_PAGES, "{waiting}");
        drop(maintenance);
    }
}

//! Carries the journal over into the database beside those that write, where many threads do.
//!
//! Whoever writes would do that at the end of a write now and then, and all who wait for the next one with it. A process
//! of one thread never starts this.

use super::connect::connect_reader;
use super::shared::Look;
use super::watch::{self, Identity};
use super::{Place, journal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Pages that wait in the journal at which they are carried over.
const PAGES: u32 = 1_000;
/// Pages of a journal that begins anew as soon as little is left to carry over: 16 MB.
const PAGES_LONG: u32 = 4_000;
/// Pages of a journal that a writer carries over itself, whatever is left: this one here has not kept up.
pub(super) const PAGES_LEFT_TO_IT: u32 = 16_000;

/// What works beside the writers.
#[derive(Debug)]
pub(super) struct Carrier {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    said: Mutex<Said>,
    heard: Condvar,
}

#[derive(Debug, Default)]
struct Said {
    wrote: bool,
    ends: bool,
    /// The journal is long, and nearly all of it is carried over.
    is_due: bool,
}

impl Shared {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Carrier {
    /// Works on the database at `place`, as long as it is this file. None where no thread can be had.
    pub(super) fn start(place: &Place, file: Identity) -> Option<Self> {
        let shared = Arc::<Shared>::default();
        let (place, theirs) = (place.clone(), Arc::clone(&shared));
        let thread = thread::Builder::new().name("journal".to_owned());
        // Without it the writers carry over as they always do.
        let thread = thread.spawn(move || work(&place, file, &theirs)).ok()?;
        Some(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Something was written. Whether the writer is to carry over the little that is left, so that the journal begins
    /// anew: that happens only where nobody writes meanwhile.
    pub(super) fn wrote(&self) -> bool {
        let mut said = self.shared.said();
        said.wrote = true;
        let is_due = std::mem::take(&mut said.is_due);
        drop(said);
        self.shared.heard.notify_one();
        is_due
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.shared.said().ends = true;
        self.shared.heard.notify_one();
        // One that panicked has ended too.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn work(place: &Place, file: Identity, shared: &Shared) {
    let path = place.path();
    let is_same = || watch::identity(&path) == file;
    let look = Look::at(&path);
    // What is wrong is the writers' to say, who then carry over by themselves.
    let opened = is_same().then(|| connect_reader(place).ok()).flatten();
    let Some(connection) = opened.filter(|_| is_same()) else {
        return;
    };
    loop {
        let said = shared.said();
        let waited = shared
            .heard
            .wait_while(said, |said| !said.wrote && !said.ends);
        let mut said = waited.unwrap_or_else(PoisonError::into_inner);
        if said.ends {
            return;
        }
        said.wrote = false;
        drop(said);
        let Some((_, waiting)) = journal::pages(&look) else {
            continue;
        };
        if waiting < PAGES {
            continue;
        }
        // As much as may be: what a reader still needs is carried over later.
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let done = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let left = journal::pages(&look).filter(|_| done.is_ok());
        let is_due = left.is_some_and(|(all, waiting)| all >= PAGES_LONG && waiting < PAGES);
        shared.said().is_due = is_due;
    }
}

#[cfg(test)]
mod tests {
    use super::super::SqliteStore;
    use super::*;

    #[test]
    fn a_long_journal_is_carried_over_while_others_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        let writer = store.lock();
        writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        let (place, file) = store.readers.as_ref().unwrap().place();
        let look = Look::at(&path);
        let carrier = Carrier::start(place, file).unwrap();
        let pages = PAGES_LONG + PAGES;
        let sql = format!(
            "CREATE TABLE filler (x); \
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {pages}) \
             INSERT INTO filler SELECT zeroblob(4000) FROM n;"
        );
        writer.execute_batch(&sql).unwrap();
        let (all, waiting) = journal::pages(&look).unwrap();
        assert!(all >= pages && waiting >= PAGES, "{all} {waiting}");
        // The writer holds its connection all the while.
        while !carrier.wrote() {
            thread::yield_now();
        }
        let (_, waiting) = journal::pages(&look).unwrap();
        assert!(waiting < PAGES, "{waiting}");
        drop(carrier);
    }
}

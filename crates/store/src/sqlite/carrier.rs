//! Does beside those that write what they put off, where many threads do: carries the journal over into the database,
//! and merges the index's tail when nobody writes.
//!
//! Whoever writes would do that at the end of a write now and then, and all who wait for the next one with it. A process
//! of one thread never starts this.

use super::connect::{connect_reader, connect_untouched, wait_at_most};
use super::failure::Failure;
use super::shared::Look;
use super::watch::{self, Identity};
use super::{Place, index, journal};
use heirloom_model::limits::RECEIPT_WAIT_MS;
use rusqlite::{Connection, TransactionBehavior};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pages that wait in the journal at which they are carried over.
const PAGES: u32 = 1_000;
/// Pages of a journal that begins anew as soon as little is left to carry over: 64 MB.
const PAGES_LONG: u32 = 16_000;
/// What is little: a writer that carries it over itself hardly notices.
const PAGES_FEW: u32 = 128;
/// So often in a row it is tried to leave so little.
const TRIES: u32 = 4;
/// Without a write for so long, nobody is at it.
const QUIET: Duration = Duration::from_millis(100);
/// So often in a row it is tried to merge what others hold meanwhile.
const QUIET_TRIES: u32 = 20;
/// Pages of a journal that a writer carries over itself, whatever is left: this one here has not kept up.
pub(super) const PAGES_LEFT_TO_IT: u32 = 32_000;

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

    /// Until something was written or it is the end; with `at_most_until_quiet`, or nobody has written for a while.
    fn wait(&self, at_most_until_quiet: bool) -> MutexGuard<'_, Said> {
        let is_calm = |said: &mut Said| !said.wrote && !said.ends;
        let said = self.said();
        if at_most_until_quiet {
            let waited = self.heard.wait_timeout_while(said, QUIET, is_calm);
            return waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let waited = self.heard.wait_while(said, is_calm);
        waited.unwrap_or_else(PoisonError::into_inner)
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
    // How often what was put off is still tried; 0 where nothing was.
    let mut tries = 0;
    loop {
        let mut said = shared.wait(tries > 0);
        if said.wrote {
            said.wrote = false;
            drop(said);
            tries = QUIET_TRIES;
            let is_due = carry_over(&connection, &look);
            shared.said().is_due = is_due;
            continue;
        }
        let ends = said.ends;
        drop(said);
        if tries > 0 {
            // What goes wrong is the writers' to say, who merge by themselves when it gets too long.
            let is_done = merge(place, file, || !shared.said().wrote).is_ok();
            tries = if is_done { 0 } else { tries - 1 };
        }
        if ends {
            return;
        }
    }
}

/// Carries over as much as may be: what a reader still needs is carried over later. Whether a writer is to do the rest.
fn carry_over(connection: &Connection, look: &Look) -> bool {
    for _ in 0..TRIES {
        let waits = journal::pages(look).is_some_and(|(all, waiting)| {
            waiting >= PAGES || (all >= PAGES_LONG && waiting >= PAGES_FEW)
        });
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        if waits && connection.query_row(sql, [], |_| Ok(())).is_err() {
            return false;
        }
        match journal::pages(look) {
            Some((all, waiting)) if all >= PAGES_LONG && waiting >= PAGES_FEW => {}
            Some((all, _)) => return all >= PAGES_LONG,
            None => return false,
        }
    }
    false
}

/// Merges what was put off, part by part, as long as it may.
fn merge(place: &Place, file: Identity, may_go_on: impl Fn() -> bool) -> Result<(), Failure> {
    let path = place.path();
    let mut connection = connect_untouched(place)?;
    // Another time is as good, and at the end somebody waits for it.
    wait_at_most(&mut connection, RECEIPT_WAIT_MS)?;
    while may_go_on() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // With the lock in hand: whoever replaces the file holds it meanwhile.
        if watch::identity(&path) != file || !index::settle_part(&transaction)? {
            break;
        }
        transaction.commit()?;
    }
    Ok(())
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

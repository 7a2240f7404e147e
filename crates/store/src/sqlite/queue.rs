//! Writes of many threads that wait for one sync together.
//!
//! The first one that finds nobody at work leads: it writes what has come until then, and goes on with what came
//! meanwhile by handing the lead to the next. A process of one thread never queues.

use super::failure::Failure;
use crate::{Applied, Change, StoreError};
use heirloom_model::ProjectName;
use heirloom_model::limits::WRITES_TOGETHER_MAX;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type Answer = Result<Vec<Applied>, StoreError>;

/// What waits to be written.
#[derive(Debug, Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Ticket>,
    has_leader: bool,
}

/// One thread's write.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    pub(super) project: Arc<ProjectName>,
    pub(super) changes: Arc<[Change]>,
    fate: Arc<(Mutex<Fate>, Condvar)>,
}

#[derive(Debug)]
enum Fate {
    Waits,
    Leads,
    Answered(Answer),
    Taken,
}

impl Ticket {
    fn settle(&self, fate: Fate) {
        let (known, told) = &*self.fate;
        *known.lock().unwrap_or_else(PoisonError::into_inner) = fate;
        told.notify_one();
    }

    fn waits(&self) -> bool {
        let (known, _) = &*self.fate;
        let fate = known.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*fate, Fate::Waits | Fate::Leads)
    }

    /// Tells the thread what came of its write.
    pub(super) fn answer(&self, answer: Answer) {
        self.settle(Fate::Answered(answer));
    }

    /// The answer, or nothing if this one is to lead.
    fn wait(&self) -> Option<Answer> {
        let (known, told) = &*self.fate;
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = told.wait_while(known, |fate| matches!(fate, Fate::Waits));
        let mut fate = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *fate, Fate::Taken) {
            Fate::Answered(answer) => Some(answer),
            Fate::Waits | Fate::Leads | Fate::Taken => None,
        }
    }

    /// The answer, for the one who led.
    fn own_answer(&self) -> Answer {
        let (known, _) = &*self.fate;
        let mut fate = known.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *fate, Fate::Taken) {
            Fate::Answered(answer) => answer,
            Fate::Waits | Fate::Leads | Fate::Taken => Err(given_up()),
        }
    }
}

impl Queue {
    /// Whether nobody waits or writes.
    pub(super) fn is_idle(&self) -> bool {
        let line = self.line();
        !line.has_leader && line.waiting.is_empty()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `changes` written by whoever leads, with what others want. `write` answers each ticket that it is given.
    pub(super) fn pass(
        &self,
        project: &ProjectName,
        changes: &[Change],
        write: impl FnOnce(&[Ticket]),
    ) -> Answer {
        let mine = Ticket {
            project: Arc::new(project.clone()),
            changes: changes.into(),
            fate: Arc::new((Mutex::new(Fate::Waits), Condvar::new())),
        };
        let mut line = self.line();
        if line.has_leader {
            line.waiting.push_back(mine.clone());
            drop(line);
            if let Some(answer) = mine.wait() {
                return answer;
            }
        } else {
            line.has_leader = true;
            line.waiting.push_front(mine.clone());
            drop(line);
        }
        let mut lead = Lead {
            queue: self,
            written: Vec::new(),
            write: Some(write),
        };
        lead.go();
        drop(lead);
        mine.own_answer()
    }
}

/// The lead of a queue, which goes on to the next even if the one who had it panics.
struct Lead<'a, W: FnOnce(&[Ticket])> {
    queue: &'a Queue,
    written: Vec<Ticket>,
    write: Option<W>,
}

impl<W: FnOnce(&[Ticket])> Lead<'_, W> {
    fn go(&mut self) {
        let mut line = self.queue.line();
        let count = line.waiting.len().min(WRITES_TOGETHER_MAX);
        self.written = line.waiting.drain(..count).collect();
        drop(line);
        if let Some(write) = self.write.take() {
            write(&self.written);
        }
        self.written.clear();
    }
}

impl<W: FnOnce(&[Ticket])> Drop for Lead<'_, W> {
    fn drop(&mut self) {
        // Not empty only after a panic: who still waits was not told of a write that may have been done.
        for ticket in &self.written {
            if ticket.waits() {
                ticket.answer(Err(given_up()));
            }
        }
        let mut line = self.queue.line();
        match line.waiting.front() {
            Some(next) => next.settle(Fate::Leads),
            None => line.has_leader = false,
        }
    }
}

fn given_up() -> StoreError {
    StoreError::Backend("a write was given up inside Heirloom".to_owned())
}

/// Does `work` so that its failure takes back nothing but itself.
///
/// Errors: the transaction around it is gone.
pub(super) fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<Result<T, Failure>, Failure> {
    connection.prepare_cached("SAVEPOINT one")?.execute([])?;
    let done = work(connection);
    if done.is_err() {
        if connection.is_autocommit() {
            return done.map(Ok);
        }
        (connection.prepare_cached("ROLLBACK TO one")?).execute([])?;
    }
    connection.prepare_cached("RELEASE one")?.execute([])?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::super::SqliteStore;
    use super::*;
    use crate::{Filter, Store};
    use heirloom_model::limits::RECEIPT_WAIT_MS;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Confidence, Kind, Merge, Record, RecordId, Scope, Timestamp};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    fn record(n: u128) -> Change {
        let record = Record {
            project: project("p"),
            id: RecordId::from_bytes(n.to_be_bytes()),
            kind: Kind::Note,
            key: None,
            text: format!("number {n}"),
            attrs: Attrs::new(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        };
        let (record, merge) = (Box::new(record), Merge::Replace);
        Change::Put { record, merge }
    }

    fn project(name: &str) -> ProjectName {
        ProjectName::new(name).unwrap()
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        while !is_so() {
            thread::yield_now();
        }
    }

    /// Lets `threads` write at once while the database is held, so that all but the first share a transaction.
    fn at_once(
        store: &SqliteStore,
        threads: u128,
        changes: impl Fn(u128) -> Change + Sync,
    ) -> Vec<Answer> {
        let held = store.lock();
        let write = |n| store.apply(&project("p"), &[changes(n)]);
        let write = &write;
        thread::scope(|scope| {
            let mut all = vec![scope.spawn(move || write(0))];
            // Only when the first one has taken what it writes: what comes in before is written with it.
            wait_until(|| {
                let line = store.queue.line();
                line.has_leader && line.waiting.is_empty()
            });
            all.extend((1..threads).map(|n| scope.spawn(move || write(n))));
            wait_until(|| store.queue.line().waiting.len() + 1 == all.len());
            drop(held);
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    #[test]
    fn writes_at_once_are_all_there_and_share_a_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let commits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&commits);
        let count = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        store.lock().commit_hook(Some(count)).unwrap();
        let threads = WRITES_TOGETHER_MAX + 2;
        let answers = at_once(&store, threads as u128, |n| record(n + 1));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        let found = store
            .find(&project("p"), &Filter::current(&[], Timestamp::UNIX_EPOCH))
            .unwrap();
        assert_eq!(found.len(), threads);
        let commits = commits.load(Ordering::Relaxed);
        assert_eq!(commits, 3, "the first, as many as may, and one more");
        assert!(store.queue.is_idle());
    }

    fn merged(store: &SqliteStore) -> i64 {
        let sql = "SELECT merged FROM index_totals";
        (store.lock().query_row(sql, [], |row| row.get(0))).unwrap()
    }

    #[test]
    fn what_writers_put_off_is_merged_when_nobody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let answers = at_once(&store, 900, |n| record(n + 1));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        wait_until(|| merged(&store) == 900);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }

    /// Another process that held the database in the quiet moment left it to the next write, which may never come.
    #[test]
    fn what_was_put_off_is_merged_when_another_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        let answers = at_once(&store, 900, |n| record(n + 1));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Longer than a quiet moment and the patience of who merges in it.
        thread::sleep(Duration::from_millis(3 * RECEIPT_WAIT_MS));
        other.execute_batch("ROLLBACK").unwrap();
        wait_until(|| merged(&store) == 900);
    }

    #[test]
    fn one_that_fails_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let answers = at_once(&store, 12, |n| match n % 3 {
            0 => Change::Retire {
                id: RecordId::from_bytes((1_000 + n).to_be_bytes()),
                at: Timestamp::UNIX_EPOCH,
                by: "somebody".to_owned(),
            },
            _ => record(n + 1),
        });
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(answer.is_err(), n % 3 == 0, "{n}: {answer:?}");
        }
        let found = store
            .find(&project("p"), &Filter::current(&[], Timestamp::UNIX_EPOCH))
            .unwrap();
        assert_eq!(found.len(), 8);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_leader_that_panics_leaves_the_lead_to_the_next() {
        let queue = Queue::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            queue.pass(&project("p"), &[], |_| panic!("on purpose"))
        }));
        assert!(panicked.is_err());
        assert!(queue.is_idle());
        let answer = queue.pass(&project("p"), &[], |tickets| {
            tickets
                .iter()
                .for_each(|ticket| ticket.answer(Ok(Vec::new())));
        });
        assert!(answer.unwrap().is_empty());
    }
}

//! Group commit: writes of several threads share one transaction and one sync.
//!
//! The first thread that finds no leader becomes the leader: it writes all queued changes and then hands the lead to
//! the next waiting thread. A single-threaded process never queues.

use crate::{AppliedChange, Change, StoreError};
use heirloom_model::ProjectName;
use heirloom_model::limits::WRITES_TOGETHER_MAX;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type WriteResult = Result<Vec<AppliedChange>, StoreError>;

/// Queue of writes.
#[derive(Debug, Default)]
pub(crate) struct CommitQueue {
    queue: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<CommitTicket>,
    has_leader: bool,
}

/// Queued write of one thread.
#[derive(Debug, Clone)]
pub(crate) struct CommitTicket {
    pub(crate) project: Arc<ProjectName>,
    pub(crate) changes: Arc<[Change]>,
    state: Arc<(Mutex<TicketState>, Condvar)>,
}

#[derive(Debug)]
enum TicketState {
    Waiting,
    Leading,
    Completed(WriteResult),
    Collected,
}

impl CommitTicket {
    fn set_state(&self, state: TicketState) {
        let (mutex, condvar) = &*self.state;
        *mutex.lock().unwrap_or_else(PoisonError::into_inner) = state;
        condvar.notify_one();
    }

    fn is_pending(&self) -> bool {
        let (mutex, _) = &*self.state;
        let state = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*state, TicketState::Waiting | TicketState::Leading)
    }

    /// Completes the ticket with the result of its write and wakes its thread.
    pub(crate) fn complete(&self, result: WriteResult) {
        self.set_state(TicketState::Completed(result));
    }

    /// Waits for the result; `None` if this thread becomes the leader instead.
    fn wait_for_result(&self) -> Option<WriteResult> {
        let (mutex, condvar) = &*self.state;
        let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = condvar.wait_while(guard, |state| matches!(state, TicketState::Waiting));
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, TicketState::Collected) {
            TicketState::Completed(result) => Some(result),
            TicketState::Waiting | TicketState::Leading | TicketState::Collected => None,
        }
    }

    /// Takes the result of the leader's own write.
    fn take_result(&self) -> WriteResult {
        let (mutex, _) = &*self.state;
        let mut state = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, TicketState::Collected) {
            TicketState::Completed(result) => result,
            TicketState::Waiting | TicketState::Leading | TicketState::Collected => {
                Err(aborted_write())
            }
        }
    }
}

impl CommitQueue {
    /// Returns true if no write is queued or running.
    pub(crate) fn is_idle(&self) -> bool {
        let queue = self.queue();
        !queue.has_leader && queue.waiting.is_empty()
    }

    fn queue(&self) -> MutexGuard<'_, QueueState> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Becomes the leader if no write is queued or running. Dropping the lead hands it to the next thread.
    pub(crate) fn try_lead(&self) -> Option<Lead<'_>> {
        let mut queue = self.queue();
        if queue.has_leader || !queue.waiting.is_empty() {
            return None;
        }
        queue.has_leader = true;
        Some(Lead(self))
    }

    /// Hands the lead to the next thread.
    fn hand_over(&self) {
        let mut queue = self.queue();
        match queue.waiting.front() {
            Some(next) => next.set_state(TicketState::Leading),
            None => queue.has_leader = false,
        }
    }

    /// Submits `changes` and waits until a leader has written them, together with those of other threads. If this
    /// thread leads, it calls `write`, which completes each ticket that it gets.
    pub(crate) fn submit(
        &self,
        project: &ProjectName,
        changes: &[Change],
        write: impl FnOnce(&[CommitTicket]),
    ) -> WriteResult {
        let mine = CommitTicket {
            project: Arc::new(project.clone()),
            changes: changes.into(),
            state: Arc::new((Mutex::new(TicketState::Waiting), Condvar::new())),
        };
        let mut queue = self.queue();
        if queue.has_leader {
            queue.waiting.push_back(mine.clone());
            drop(queue);
            if let Some(result) = mine.wait_for_result() {
                return result;
            }
        } else {
            queue.has_leader = true;
            queue.waiting.push_front(mine.clone());
            drop(queue);
        }
        let mut lead = Leader {
            queue: self,
            written: Vec::new(),
            write: Some(write),
        };
        lead.commit_batch();
        drop(lead);
        mine.take_result()
    }
}

/// Leadership of the queue. Dropping it hands the lead to the next thread, also after a panic.
struct Leader<'a, W: FnOnce(&[CommitTicket])> {
    queue: &'a CommitQueue,
    written: Vec<CommitTicket>,
    write: Option<W>,
}

impl<W: FnOnce(&[CommitTicket])> Leader<'_, W> {
    fn commit_batch(&mut self) {
        let mut queue = self.queue.queue();
        let count = queue.waiting.len().min(WRITES_TOGETHER_MAX);
        self.written = queue.waiting.drain(..count).collect();
        drop(queue);
        if let Some(write) = self.write.take() {
            write(&self.written);
        }
        self.written.clear();
    }
}

impl<W: FnOnce(&[CommitTicket])> Drop for Leader<'_, W> {
    fn drop(&mut self) {
        // Not empty only after a panic. The waiting threads do not know whether their write was committed.
        for ticket in &self.written {
            if ticket.is_pending() {
                ticket.complete(Err(aborted_write()));
            }
        }
        self.queue.hand_over();
    }
}

/// Leadership of the queue for a write that is not queued.
pub(crate) struct Lead<'a>(&'a CommitQueue);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.hand_over();
    }
}

fn aborted_write() -> StoreError {
    StoreError::Backend("a write was aborted by an internal error".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::TailLength;
    use crate::sqlite::SqliteStore;
    use crate::{Filter, Store};
    use heirloom_model::limits::RECEIPT_WAIT_MS;
    use heirloom_model::record::Attrs;
    use heirloom_model::{Confidence, Kind, MergeRule, Record, RecordId, Scope, Timestamp};
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
        let (record, merge) = (Box::new(record), MergeRule::Replace);
        Change::Put { record, merge }
    }

    fn project(name: &str) -> ProjectName {
        ProjectName::new(name).unwrap()
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        // Without a pause, a check that takes the connection keeps it from the thread that merges.
        while !is_so() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Writes from `threads` threads while the database is locked, so that all but the first share a transaction.
    fn at_once(
        store: &SqliteStore,
        threads: u128,
        changes: impl Fn(u128) -> Change + Sync,
    ) -> Vec<WriteResult> {
        let held = store.lock();
        let write = |n| store.apply(&project("p"), &[changes(n)]);
        let write = &write;
        thread::scope(|scope| {
            let mut all = vec![scope.spawn(move || write(0))];
            // Wait until the first thread has taken its batch: tickets queued before would be written with it.
            wait_until(|| {
                let queue = store.commit_queue.queue();
                queue.has_leader && queue.waiting.is_empty()
            });
            all.extend((1..threads).map(|n| scope.spawn(move || write(n))));
            wait_until(|| store.commit_queue.queue().waiting.len() + 1 == all.len());
            drop(held);
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    #[test]
    fn concurrent_writes_share_a_transaction() {
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
        assert!(store.commit_queue.is_idle());
    }

    /// Returns true if the index has a tail that is long enough to merge. A merge between two groups leaves a shorter one.
    fn has_deferred_merge(store: &SqliteStore) -> bool {
        let sql = "SELECT texts, merged FROM index_totals";
        let connection = store.lock();
        let length = connection.query_row(sql, [], |row| {
            let (texts, merged) = (row.get(0)?, row.get(1)?);
            Ok(TailLength { texts, merged })
        });
        length.unwrap().is_merge_due()
    }

    #[test]
    fn deferred_merge_runs_when_idle() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let answers = at_once(&store, 900, |n| record(n + 1));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        wait_until(|| !has_deferred_merge(&store));
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }

    /// If another process holds the database when this one is idle, the merge must not wait for the next write, which
    /// may never come.
    #[test]
    fn deferred_merge_runs_after_other_process_releases_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        let answers = at_once(&store, 900, |n| record(n + 1));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Longer than the idle time and the busy timeout of the merge.
        thread::sleep(Duration::from_millis(3 * RECEIPT_WAIT_MS));
        other.execute_batch("ROLLBACK").unwrap();
        wait_until(|| !has_deferred_merge(&store));
    }

    #[test]
    fn failed_write_does_not_affect_others_of_its_group() {
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
    fn leader_panic_passes_lead_to_next_thread() {
        let queue = CommitQueue::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            queue.submit(&project("p"), &[], |_| panic!("on purpose"))
        }));
        assert!(panicked.is_err());
        assert!(queue.is_idle());
        let answer = queue.submit(&project("p"), &[], |tickets| {
            tickets
                .iter()
                .for_each(|ticket| ticket.complete(Ok(Vec::new())));
        });
        assert!(answer.unwrap().is_empty());
    }
}

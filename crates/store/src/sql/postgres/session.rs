//! Session: one connection of the pool while an operation of the store uses it.
//!
//! A write waits until the next round trip, which is that of a query or of the commit. Queries that do not depend on
//! each other are sent together by [`PgSession::prefetch`]; the calls that run them later find their rows.

use super::blocking;
use super::dialect::Translation;
use super::plan_log::PlanLog;
use super::pool::PooledClient;
use super::project_numbers::ProjectNumbers;
use super::request::{Answer, QueryBatch, Request, TranslationCache};
use super::values::PgRow;
use crate::sql::LockedIndex;
use crate::sql::SqlError;
use futures_util::FutureExt;
use futures_util::future::join_all;
use heirloom_model::{ProjectName, limits};
use rusqlite::ToSql;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time;

/// Statement that notifies the listeners; the payload is the name of the project.
pub(crate) const NOTIFY: &str = "SELECT pg_notify('heirloom', CAST(?1 AS text))";

/// Statements that may wait for the next round trip.
const PENDING_MAX: usize = 512;

/// State that all sessions of a store share.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) translations: TranslationCache,
    pub(crate) projects: ProjectNumbers,
    /// Number of round trips since the store was opened.
    pub(crate) round_trips: AtomicU64,
    /// Longest time of a round trip.
    pub(crate) statement_timeout: Duration,
    /// Log of plans, in tests.
    pub(crate) plan_log: Option<PlanLog>,
}

impl Default for SharedState {
    fn default() -> Self {
        Self {
            translations: TranslationCache::default(),
            projects: ProjectNumbers::default(),
            round_trips: AtomicU64::new(0),
            statement_timeout: Duration::from_secs(limits::POSTGRES_STATEMENT_TIMEOUT_S),
            plan_log: None,
        }
    }
}

/// Connection of the pool in use by one operation.
pub(crate) struct PgSession {
    client: PooledClient,
    runtime: Handle,
    shared: Arc<SharedState>,
    /// Writes that were not sent yet.
    pending: RefCell<Vec<Request>>,
    /// Number of writes since the session began, pending ones included.
    writes: Cell<usize>,
    /// Rows of queries that were sent in advance.
    prefetched: RefCell<Vec<(Request, Rc<Vec<PgRow>>)>>,
    /// Index rows that the transaction has locked.
    locked_index: RefCell<LockedIndex>,
    /// Notification to send after the next requests.
    notification: RefCell<Option<Request>>,
    /// Project of the transaction with its number; without one if it does not exist. It is not valid for others before
    /// the commit.
    project: RefCell<Option<(ProjectName, Option<i64>)>>,
}

/// Position in the writes of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteMark(usize);

impl PgSession {
    /// Creates a session on a connection.
    pub(crate) fn new(client: PooledClient, runtime: Handle, shared: Arc<SharedState>) -> Self {
        Self {
            client,
            runtime,
            shared,
            pending: RefCell::default(),
            writes: Cell::new(0),
            prefetched: RefCell::default(),
            locked_index: RefCell::default(),
            notification: RefCell::default(),
            project: RefCell::default(),
        }
    }

    /// Returns the number of a project that an earlier query read; `Some(None)` for a project that does not exist.
    pub(crate) fn known_project(&self, name: &ProjectName) -> Option<Option<i64>> {
        let project = self.project.borrow();
        match project.as_ref().filter(|(known, _)| known == name) {
            Some((_, number)) => Some(*number),
            None => self.shared.projects.get(name).map(Some),
        }
    }

    /// Remembers the number of a project for all sessions.
    pub(crate) fn remember_project(&self, name: &ProjectName, number: i64) {
        self.shared.projects.insert(name, number);
    }

    /// Returns the project that the transaction writes to.
    pub(crate) fn project(&self) -> Option<ProjectName> {
        let project = self.project.borrow();
        project.as_ref().map(|(name, _)| name.clone())
    }

    /// Returns the number of that project; `None` if it does not exist.
    pub(crate) fn project_number(&self) -> Option<i64> {
        let project = self.project.borrow();
        project.as_ref().and_then(|(_, number)| *number)
    }

    /// Remembers the number of a project until the end of the transaction.
    pub(crate) fn set_project(&self, name: &ProjectName, number: Option<i64>) {
        self.project.replace(Some((name.clone(), number)));
    }

    /// Forgets the numbers of all projects.
    pub(crate) fn forget_projects(&self) {
        self.project.take();
        self.shared.projects.clear();
    }

    /// Returns the index rows that the transaction has locked.
    pub(crate) fn locked_index(&self) -> &RefCell<LockedIndex> {
        &self.locked_index
    }

    /// Executes several statements without values.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), SqlError> {
        self.send(Vec::new(), Interruption::Cancel)?;
        let client = &self.client;
        Ok(blocking::wait(&self.runtime, client.batch_execute(sql))?)
    }

    /// Keeps the connection from being used again.
    pub(crate) fn discard(&self) {
        self.client.discard();
    }

    /// Prepares a statement of the store.
    pub(crate) fn statement(&self, sql: &str) -> PgStatement<'_> {
        PgStatement {
            session: self,
            translation: self.shared.translations.get(sql),
        }
    }

    /// Sends all pending writes and the queries that `fill` adds in one round trip. A later query with the same
    /// statement and values gets their rows, unless a write comes before it.
    pub(crate) fn prefetch<E: From<SqlError>>(
        &self,
        fill: impl FnOnce(&mut QueryBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batch = QueryBatch::new(&self.shared.translations);
        fill(&mut batch)?;
        let requests = batch.into_requests();
        if requests.is_empty() {
            return Ok(());
        }
        let answers = self.send(requests, Interruption::Cancel)?;
        let rows = answers
            .into_iter()
            .map(|(request, (rows, _))| (request, Rc::new(rows)));
        self.prefetched.borrow_mut().extend(rows);
        Ok(())
    }

    /// Sends all pending writes and `queries` in one round trip; returns the answers to `queries`.
    fn send(
        &self,
        queries: Vec<Request>,
        interruption: Interruption,
    ) -> Result<Vec<(Request, Answer)>, SqlError> {
        let mut requests = self.pending.take();
        let writes = requests.len();
        requests.extend(queries);
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.shared.round_trips.fetch_add(1, Ordering::Relaxed);
        let answers = blocking::wait(&self.runtime, self.exchange(&requests, interruption))?;
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let answers = requests.into_iter().zip(answers);
        Ok(answers.skip(writes).collect())
    }

    /// Sends the requests and waits for their answers, at most for the time of a statement.
    async fn exchange(
        &self,
        requests: &[Request],
        interruption: Interruption,
    ) -> Result<Vec<Result<Answer, tokio_postgres::Error>>, SqlError> {
        let client = &self.client;
        if let Some(log) = &self.shared.plan_log {
            return Ok(log.run(requests, client).await);
        }
        // The order of requests is that in which they are sent, so none of them is prepared among the others.
        if client.statements().is_some() {
            let preparations = requests.iter().map(|request| request.prepare(client));
            let prepared = time::timeout(self.shared.statement_timeout, join_all(preparations));
            let Ok(prepared) = prepared.await else {
                client.discard();
                return Err(SqlError::Timeout(self.shared.statement_timeout));
            };
            prepared.into_iter().collect::<Result<Vec<()>, _>>()?;
        }
        let mut answers = Box::pin(join_all(requests.iter().map(|request| request.run(client))));
        if let Some(notification) = self.notification.take() {
            // The first polls send the requests. The answer to the notification is not waited for.
            let first = poll_fn(|cx| Poll::Ready(answers.as_mut().poll(cx))).await;
            if let Poll::Ready(answers) = first {
                return Ok(answers);
            }
            // A notification that cannot be sent fails with the connection, as the other requests do.
            let _ = notification.run(client).now_or_never();
        }
        let longest = self.shared.statement_timeout;
        if let Ok(answers) = time::timeout(longest, &mut answers).await {
            return Ok(answers);
        }
        self.client.discard();
        if interruption == Interruption::Cancel {
            let grace = Duration::from_secs(limits::POSTGRES_CANCEL_GRACE_S);
            // Opens a connection of its own, which may be impossible for the same reason as the answer is missing.
            let cancelled = time::timeout(grace, self.client.cancel()).await;
            if matches!(cancelled, Ok(Ok(())))
                && let Ok(answers) = time::timeout(grace, &mut answers).await
            {
                return Ok(answers);
            }
        }
        Err(SqlError::Timeout(longest))
    }

    /// Counts a statement that changes rows. The rows that were read in advance may differ after it.
    fn count_write(&self) {
        self.prefetched.borrow_mut().clear();
        self.writes.set(self.writes.get() + 1);
    }

    /// Queues a statement for the next round trip.
    fn queue(&self, request: Request) -> Result<(), SqlError> {
        self.count_write();
        self.pending.borrow_mut().push(request);
        if self.pending.borrow().len() >= PENDING_MAX {
            self.send(Vec::new(), Interruption::Cancel)?;
        }
        Ok(())
    }

    /// Returns the position after the writes so far.
    pub(crate) fn mark(&self) -> WriteMark {
        WriteMark(self.writes.get())
    }

    /// Discards the writes after `mark`. Returns false without an effect if some of them were sent.
    pub(crate) fn discard_after(&self, mark: WriteMark) -> bool {
        let count = self.writes.get().saturating_sub(mark.0);
        let mut pending = self.pending.borrow_mut();
        let Some(kept) = pending.len().checked_sub(count) else {
            return false;
        };
        pending.truncate(kept);
        self.writes.set(mark.0);
        self.forget_rows();
        true
    }

    /// Forgets the rows that the transaction has read in advance.
    fn forget_rows(&self) {
        self.prefetched.borrow_mut().clear();
        self.locked_index.take();
    }

    /// Queues the beginning of a transaction.
    pub(crate) fn begin(&self, sql: &str) -> Result<(), SqlError> {
        self.forget_rows();
        self.project.take();
        self.queue(self.plain(sql)?)
    }

    /// Sends all pending writes and the commit, and notifies the listeners of a write to `project` after it.
    pub(crate) fn commit(&self, project: Option<&ProjectName>) -> Result<(), SqlError> {
        self.forget_rows();
        // A cancelled commit is acknowledged before a synchronous replica has it.
        if let Some(project) = project {
            let translation = self.shared.translations.get(NOTIFY);
            let notification = Request::new(&translation, &[&project.as_str()])?;
            self.notification.replace(Some(notification));
        }
        self.send(vec![self.plain("COMMIT")?], Interruption::Disconnect)?;
        if let Some((name, Some(number))) = self.project.take() {
            self.remember_project(&name, number);
        }
        Ok(())
    }

    /// Ends a transaction that only read, without waiting for the answer.
    pub(crate) fn end_snapshot(&self) -> Result<(), SqlError> {
        self.forget_rows();
        let mut requests = self.pending.take();
        requests.push(self.plain("COMMIT")?);
        for request in &requests {
            // The first poll sends the request; the connection reads and drops the answer.
            if let Some(Err(error)) = request.run(&self.client).now_or_never() {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Discards pending writes and rolls the transaction back. A connection that cannot do that is not used again.
    pub(crate) fn rollback(&self) {
        self.pending.take();
        self.forget_rows();
        let rolled_back = self
            .plain("ROLLBACK")
            .and_then(|request| self.send(vec![request], Interruption::Disconnect));
        if rolled_back.is_err() {
            self.client.discard();
        }
    }

    fn plain(&self, sql: &str) -> Result<Request, SqlError> {
        Request::new(&self.shared.translations.get(sql), &[])
    }

    fn prefetched(&self, request: &Request) -> Option<Rc<Vec<PgRow>>> {
        let prefetched = self.prefetched.borrow();
        let found = prefetched.iter().find(|(known, _)| known == request);
        found.map(|(_, rows)| Rc::clone(rows))
    }
}

/// Reaction to a round trip that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// The statement is cancelled and the connection discarded.
    Cancel,
    /// The connection is discarded.
    Disconnect,
}

/// Statement of the store on PostgreSQL.
pub(crate) struct PgStatement<'c> {
    session: &'c PgSession,
    translation: Arc<Translation>,
}

impl PgStatement<'_> {
    /// Runs the query and returns all of its rows.
    pub(crate) fn query(&self, values: &[&dyn ToSql]) -> Result<Rc<Vec<PgRow>>, SqlError> {
        let request = Request::new(&self.translation, values)?;
        if self.translation.is_write() {
            self.session.count_write();
        } else if let Some(rows) = self.session.prefetched(&request) {
            return Ok(rows);
        }
        Ok(Rc::new(self.answer(request)?.0))
    }

    /// Executes the statement and returns the number of changed rows.
    pub(crate) fn execute(&self, values: &[&dyn ToSql]) -> Result<usize, SqlError> {
        self.session.count_write();
        let (_, changed) = self.answer(Request::new(&self.translation, values)?)?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Queues the statement for the next round trip.
    pub(crate) fn write(&self, values: &[&dyn ToSql]) -> Result<(), SqlError> {
        let request = Request::new(&self.translation, values)?;
        self.session.queue(request)
    }

    fn answer(&self, request: Request) -> Result<Answer, SqlError> {
        let answers = self.session.send(vec![request], Interruption::Cancel)?;
        let answer = answers.into_iter().next();
        Ok(answer.map(|(_, answer)| answer).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_timeout_is_that_of_the_limits() {
        let longest = Duration::from_secs(limits::POSTGRES_STATEMENT_TIMEOUT_S);
        assert_eq!(SharedState::default().statement_timeout, longest);
    }
}

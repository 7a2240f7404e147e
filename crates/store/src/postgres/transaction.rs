//! Transactions: reads, snapshots and writes, repeated where that is safe.

use super::isolation::Isolation;
use super::server_error::{self, Recovery, recovery_of};
use super::{PostgresStore, commit_tokens, schema};
use crate::StoreError;
use crate::relational::{index, row_codec};
use crate::sql::failure::Failure;
use crate::sql::postgres::session::{self, PgSession};
use crate::sql::{Connection, QueryBatch, SqlError};
use heirloom_model::{ProjectName, RecordId, limits};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::thread;
use std::time::{Duration, Instant};

impl PostgresStore {
    /// Runs a query without a transaction.
    pub(super) fn read<T>(
        &self,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(Isolation::None, work)
    }

    /// Runs queries on one snapshot.
    pub(crate) fn read_snapshot<T>(
        &self,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(Isolation::Snapshot, work)
    }

    /// Runs a write to a project while no other one writes to it.
    pub(crate) fn write<T>(
        &self,
        project: &ProjectName,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.write_prefetched(project, |_, _| Ok(()), work)
    }

    /// Runs a write to a project while no other one writes to it. The queries that `prefetch` adds for the number of the
    /// project are sent with the beginning of the transaction.
    pub(super) fn write_prefetched<T>(
        &self,
        project: &ProjectName,
        prefetch: impl Fn(&mut QueryBatch<'_>, i64) -> Result<(), Failure>,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(Isolation::Write, |connection| {
            self.begin_write(connection, project, &prefetch)?;
            work(connection)
        })
    }

    /// Runs a write that adds texts to the index, and merges the index afterwards.
    pub(super) fn write_indexed<T>(
        &self,
        project: &ProjectName,
        prefetch: impl Fn(&mut QueryBatch<'_>, i64) -> Result<(), Failure>,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.write_prefetched(project, prefetch, |connection| {
            let done = work(connection)?;
            index::merge_if_due(connection, project)?;
            Ok(done)
        })
    }

    /// Checks the schema and locks the project, so that no other writer of it reads
    /// or writes until the end of the transaction. A project that does not exist is locked when it is created.
    fn begin_write(
        &self,
        connection: Connection<'_>,
        project: &ProjectName,
        prefetch: &impl Fn(&mut QueryBatch<'_>, i64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Connection::Postgres(session) = connection else {
            return Ok(());
        };
        let known = session.known_project(project).flatten();
        connection.prefetch(|batch| {
            schema::prefetch_version(batch)?;
            match known {
                // The lock comes first: each query reads what was committed before it began.
                Some(number) => {
                    row_codec::prefetch_lock(batch, number)?;
                    prefetch(batch, number)
                }
                None => row_codec::prefetch_project(batch, project),
            }
        })?;
        schema::refuse_newer(self, connection)?;
        if let Some(number) = known {
            session.set_project(project, Some(number));
            if row_codec::lock(connection, number)? {
                return Ok(());
            }
            // The project was deleted since its number was read.
            connection.forget_projects();
        }
        let number = row_codec::project(connection, project)?;
        session.set_project(project, number);
        let Some(number) = number else {
            return Ok(());
        };
        connection.prefetch(|batch| {
            row_codec::prefetch_lock(batch, number)?;
            prefetch(batch, number)
        })?;
        row_codec::lock(connection, number)?;
        Ok(())
    }

    /// Runs `work` in a transaction. It is repeated if the database rolled it back because of another transaction, or if
    /// the connection was lost before the commit. If it was lost while the commit was sent, its token shows whether it
    /// was committed, so that each write takes effect once.
    pub(super) fn transact<T>(
        &self,
        isolation: Isolation,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut attempt = 1;
        loop {
            let session = self.session()?;
            let token = commit_tokens::new_token(&self.ids);
            let failure = match run(&session, isolation, token, &work) {
                Ok(done) => return Ok(done),
                Err(Attempt::RolledBack(failure)) => failure,
                Err(Attempt::Uncertain(done, error)) => {
                    let project = session.project();
                    session.discard();
                    drop(session);
                    match self.commit_status(project.as_ref(), token) {
                        CommitStatus::Committed => {
                            self.notify(project.as_ref());
                            return Ok(done);
                        }
                        CommitStatus::Unknown => return Err(self.unknown_commit(&error)),
                        CommitStatus::Aborted if attempt >= limits::POSTGRES_ATTEMPTS_MAX => {
                            return Err(server_error::of_failure(error.into(), &self.server));
                        }
                        CommitStatus::Aborted => {}
                    }
                    thread::sleep(backoff(attempt));
                    attempt += 1;
                    continue;
                }
            };
            let recovery = recovery_of(&failure);
            if recovery == Recovery::Reconnect {
                session.discard();
            }
            if recovery == Recovery::Fail || attempt >= limits::POSTGRES_ATTEMPTS_MAX {
                return Err(server_error::of_failure(failure, &self.server));
            }
            drop(session);
            thread::sleep(backoff(attempt));
            attempt += 1;
        }
    }

    /// Notifies the listeners of a write whose connection was lost before it may have done so.
    fn notify(&self, project: Option<&ProjectName>) {
        let notified = self.read(|connection| match project {
            Some(project) => {
                connection.execute(session::NOTIFY, [project.as_str()])?;
                Ok(())
            }
            None => Ok(()),
        });
        // The write is committed and acknowledged even if this fails.
        drop(notified);
    }

    /// Finds out on another connection whether the transaction with this token was committed.
    fn commit_status(&self, project: Option<&ProjectName>, token: RecordId) -> CommitStatus {
        let Some(project) = project else {
            return CommitStatus::Unknown;
        };
        let end = Instant::now() + Duration::from_secs(limits::POSTGRES_UNCERTAIN_WAIT_S);
        for attempt in 1.. {
            match self.is_committed(project, token) {
                Ok(true) => return CommitStatus::Committed,
                Ok(false) => return CommitStatus::Aborted,
                Err(StoreError::Server {
                    is_transient: true, ..
                }) if Instant::now() < end => {}
                Err(_) => break,
            }
            thread::sleep(backoff(attempt.min(STATUS_BACKOFF_MAX)));
        }
        CommitStatus::Unknown
    }

    fn unknown_commit(&self, error: &SqlError) -> StoreError {
        server_error::unavailable(
            &self.server,
            format!(
                "the connection was lost during a commit, and the server does not say whether the write was committed: \
                 {error}"
            ),
            "read what was written before you write it again",
        )
    }
}

/// Number of doublings of the wait between two questions for the status of a commit.
const STATUS_BACKOFF_MAX: u32 = 5;

/// Outcome of a transaction whose connection was lost during the commit.
enum CommitStatus {
    Committed,
    Aborted,
    /// The server cannot be reached, or the transaction wrote to no project.
    Unknown,
}

/// Outcome of a failed attempt.
enum Attempt<T> {
    /// The transaction had no effect.
    RolledBack(Failure),
    /// The connection was lost after the commit was sent. Contains the result for the case that it was committed.
    Uncertain(T, SqlError),
}

impl<T, E: Into<Failure>> From<E> for Attempt<T> {
    fn from(error: E) -> Self {
        Self::RolledBack(error.into())
    }
}

fn run<T>(
    session: &PgSession,
    isolation: Isolation,
    token: RecordId,
    work: impl Fn(Connection<'_>) -> Result<T, Failure>,
) -> Result<T, Attempt<T>> {
    let Some(begin) = isolation.begin() else {
        return Ok(work(Connection::Postgres(session))?);
    };
    session.begin(begin)?;
    let done = match work(Connection::Postgres(session)) {
        Ok(done) => done,
        Err(failure) => {
            session.rollback();
            return Err(Attempt::RolledBack(failure));
        }
    };
    if isolation == Isolation::Snapshot {
        if session.end_snapshot().is_err() {
            session.discard();
        }
        return Ok(done);
    }
    let committed = index::write_totals(Connection::Postgres(session))
        .and_then(|()| commit_tokens::store_token(session, token))
        .and_then(|()| session.commit(session.project().as_ref()));
    match committed {
        Ok(()) => Ok(done),
        Err(error) if server_error::is_uncertain(&error) => Err(Attempt::Uncertain(done, error)),
        Err(error) => {
            session.rollback();
            Err(Attempt::RolledBack(error.into()))
        }
    }
}

/// Returns the wait before the next attempt.
pub(super) fn backoff(attempt: u32) -> Duration {
    let longest = (limits::POSTGRES_BACKOFF_MS * 1_000) << attempt.min(8);
    // A hash with random keys, so that writers that met each other do not meet again.
    let random = RandomState::new().hash_one(attempt);
    Duration::from_micros(longest / 2 + random % (longest / 2))
}

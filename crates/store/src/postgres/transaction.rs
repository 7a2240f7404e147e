//! Transactions: reads, snapshots and writes, repeated where that is safe.

use super::server_error::{self, Recovery, recovery_of};
use super::session::PgSession;
use super::{PostgresStore, schema};
use crate::StoreError;
use crate::relational::failure::Failure;
use crate::relational::{index, row_codec};
use crate::sql::Connection;
use heirloom_model::{ProjectName, limits};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::thread;
use std::time::Duration;

/// Kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Each statement reads the newest committed data. No transaction is begun.
    None,
    /// All statements read the same snapshot.
    Snapshot,
    /// Statements write, and each reads the newest committed data.
    Write,
}

impl Isolation {
    fn begin(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::Write => Some("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
        }
    }
}

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
        self.transact(Isolation::Write, |connection| {
            schema::refuse_newer(self, connection)?;
            lock_project(connection, project)?;
            work(connection)
        })
    }

    /// Runs a write that adds texts to the index, and merges the index afterwards.
    pub(super) fn write_indexed<T>(
        &self,
        project: &ProjectName,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.write(project, |connection| {
            let done = work(connection)?;
            index::merge_if_due(connection, project)?;
            Ok(done)
        })
    }

    /// Runs `work` in a transaction. It is repeated if the database rolled it back because of another transaction, or if
    /// the connection was lost before the commit was sent.
    pub(super) fn transact<T>(
        &self,
        isolation: Isolation,
        work: impl Fn(Connection<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut attempt = 1;
        loop {
            let session = self.session()?;
            let failure = match run(&session, isolation, &work) {
                Ok(done) => return Ok(done),
                Err(Attempt::Uncertain(error)) => {
                    return Err(server_error::of_postgres(&error, &self.server));
                }
                Err(Attempt::RolledBack(failure)) => failure,
            };
            self.projects.clear();
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
}

/// Outcome of a failed attempt.
enum Attempt {
    /// The transaction had no effect.
    RolledBack(Failure),
    /// The connection was lost after the commit was sent.
    Uncertain(tokio_postgres::Error),
}

impl<E: Into<Failure>> From<E> for Attempt {
    fn from(error: E) -> Self {
        Self::RolledBack(error.into())
    }
}

fn run<T>(
    session: &PgSession,
    isolation: Isolation,
    work: impl Fn(Connection<'_>) -> Result<T, Failure>,
) -> Result<T, Attempt> {
    let begin = isolation.begin();
    if let Some(begin) = begin {
        session.begin(begin)?;
    }
    let done = work(Connection::Postgres(session));
    match (&done, begin) {
        (Ok(_), Some(_)) => {
            let committed = session.commit();
            if let Err(error) = committed {
                // An error of the server is its answer: the transaction was rolled back.
                if error.code().is_none() && isolation == Isolation::Write {
                    return Err(Attempt::Uncertain(error));
                }
                session.rollback();
                return Err(Attempt::RolledBack(error.into()));
            }
        }
        (Err(_), Some(_)) => session.rollback(),
        (_, None) => {}
    }
    done.map_err(Attempt::RolledBack)
}

/// Locks the project, so that no other writer of it reads or writes until the end of the transaction. A project that does
/// not exist is locked when it is created.
fn lock_project(connection: Connection<'_>, project: &ProjectName) -> Result<(), Failure> {
    if let Some(number) = row_codec::project(connection, project)?
        && !row_codec::lock(connection, number)?
    {
        // It was deleted since its number was read.
        connection.forget_projects();
    }
    Ok(())
}

/// Returns the wait before the next attempt.
fn backoff(attempt: u32) -> Duration {
    let longest = limits::POSTGRES_BACKOFF_MS * 1_000 << attempt.min(8);
    // A hash with random keys, so that writers that met each other do not meet again.
    let random = RandomState::new().hash_one(attempt);
    Duration::from_micros(longest / 2 + random % (longest / 2))
}

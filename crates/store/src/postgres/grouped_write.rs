//! Group commit: concurrent writes to one project share a transaction. Writes to different projects run in parallel.
//!
//! A write whose changes are refused leaves the transaction without a trace, because its statements have not been sent
//! by then: so no savepoints are needed. If they were, the writes of the group are repeated one by one.

use super::PostgresStore;
use crate::relational::write::apply;
use crate::relational::write::change_keys::ChangeKeys;
use crate::relational::write::group_commit::CommitTicket;
use crate::relational::write::known_rows::KnownRows;
use crate::relational::{index, row_codec};
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::sql::postgres::session::PgSession;
use crate::{AppliedChange, Change, StoreError};
use heirloom_model::ProjectName;
use std::cell::RefCell;

type WriteResult = Result<Vec<AppliedChange>, StoreError>;

impl PostgresStore {
    /// Applies changes as one durable write, together with those of other threads.
    pub(super) fn apply_grouped(&self, project: &ProjectName, changes: &[Change]) -> WriteResult {
        let queue = self.queues.enter(project);
        if let Some(lead) = queue.try_lead() {
            let done = self.apply_alone(project, changes);
            drop(lead);
            return done;
        }
        queue.submit(project, changes, |tickets| {
            self.commit_group(project, tickets)
        })
    }

    fn apply_alone(&self, project: &ProjectName, changes: &[Change]) -> WriteResult {
        let keys = ChangeKeys::of(changes);
        self.write_indexed(
            project,
            |batch, number| keys.prefetch(batch, number),
            |connection| {
                let known = RefCell::new(read_known(connection, project, &keys)?);
                apply::apply_known(connection, project, changes, &known)
            },
        )
    }

    /// Writes the changes of several threads in one transaction; one by one if that fails.
    fn commit_group(&self, project: &ProjectName, tickets: &[CommitTicket]) {
        if tickets.len() > 1 {
            let keys = keys_of(tickets);
            let done = self.write_indexed(
                project,
                |batch, number| keys.prefetch(batch, number),
                |connection| match connection {
                    Connection::Postgres(session) => apply_all(session, project, tickets, &keys),
                    Connection::Sqlite(_) => Ok(Vec::new()),
                },
            );
            match done {
                Ok(results) => {
                    for (ticket, result) in tickets.iter().zip(results) {
                        ticket.complete(result);
                    }
                    return;
                }
                // It is not known that the transaction had no effect, or the next one would fail like it.
                Err(StoreError::Server {
                    server,
                    problem,
                    hint,
                    is_transient,
                }) => {
                    for ticket in tickets {
                        ticket.complete(Err(StoreError::Server {
                            server: server.clone(),
                            problem: problem.clone(),
                            hint,
                            is_transient,
                        }));
                    }
                    return;
                }
                Err(_) => {}
            }
        }
        for ticket in tickets {
            ticket.complete(self.apply_alone(project, &ticket.changes));
        }
    }
}

fn keys_of(tickets: &[CommitTicket]) -> ChangeKeys {
    ChangeKeys::of(tickets.iter().flat_map(|ticket| ticket.changes.iter()))
}

fn read_known(
    connection: Connection<'_>,
    project: &ProjectName,
    keys: &ChangeKeys,
) -> Result<KnownRows, Failure> {
    match row_codec::project(connection, project)? {
        Some(number) => KnownRows::read(connection, project, number, keys),
        None => Ok(KnownRows::of_new_project(keys)),
    }
}

/// Applies the changes of each ticket. Those of a refused one are discarded, and its result is the error.
fn apply_all(
    session: &PgSession,
    project: &ProjectName,
    tickets: &[CommitTicket],
    keys: &ChangeKeys,
) -> Result<Vec<WriteResult>, Failure> {
    let connection = Connection::Postgres(session);
    let known = RefCell::new(read_known(connection, project, keys)?);
    let mut results = Vec::with_capacity(tickets.len());
    for (ticket, others) in tickets.iter().zip(1..) {
        // Those of the earlier tickets, because the totals of a refused one are discarded.
        index::write_totals(connection)?;
        let mark = session.mark();
        match apply::apply_known(connection, project, &ticket.changes, &known) {
            Ok(applied) => results.push(Ok(applied)),
            Err(Failure::Store(error)) if session.discard_after(mark) => {
                results.push(Err(error));
                let keys = keys_of(tickets.get(others..).unwrap_or(&[]));
                known.replace(read_again(connection, project, &keys)?);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(results)
}

/// Reads the rows again after statements were discarded.
fn read_again(
    connection: Connection<'_>,
    project: &ProjectName,
    keys: &ChangeKeys,
) -> Result<KnownRows, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(KnownRows::of_new_project(keys));
    };
    connection.prefetch(|batch| {
        row_codec::prefetch_lock(batch, number)?;
        keys.prefetch(batch, number)
    })?;
    if row_codec::lock(connection, number)? {
        return KnownRows::read(connection, project, number, keys);
    }
    // The discarded statements were those that complete a new project.
    let problem = "the first write to the project was refused".to_owned();
    Err(StoreError::Backend(problem).into())
}

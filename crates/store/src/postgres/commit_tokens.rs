//! Tokens of commits: they show whether a transaction was committed whose connection was lost during the commit.
//!
//! Each write stores a new token in its transaction. The status of the server's transaction number would not suffice: after
//! a crash or a promotion the server gives the numbers of lost transactions to others.

use super::isolation::Isolation;
use super::{PostgresStore, server_error};
use crate::StoreError;
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::postgres::session::PgSession;
use crate::sql::{Connection, SqlError};
use heirloom_model::{Clock, IdSource, ProjectName, RecordId, SystemClock, limits};
use rusqlite::params;
use std::time::Duration;

/// Commits after each of which the old tokens of the project are deleted, on average.
const COMMITS_BETWEEN_DELETIONS: u8 = 64;

/// Returns the token of a new transaction. It begins with the time.
pub(super) fn new_token(ids: &IdSource) -> RecordId {
    ids.next(SystemClock.now())
}

/// Stores the token of the transaction if it writes to a project.
pub(super) fn store_token(session: &PgSession, token: RecordId) -> Result<(), SqlError> {
    let Some(project) = session.project_number() else {
        return Ok(());
    };
    let connection = Connection::Postgres(session);
    let sql = "INSERT INTO commits (project, token) VALUES (?1, ?2)";
    let values = params![project, token.as_bytes()];
    connection.prepare_cached(sql)?.write(values)?;
    let [.., last] = token.as_bytes();
    if last % COMMITS_BETWEEN_DELETIONS == 0 {
        let kept = Duration::from_secs(limits::POSTGRES_TOKEN_KEPT_S);
        let oldest = IdSource::default().next(SystemClock.now() - kept);
        let sql = "DELETE FROM commits WHERE project = ?1 AND token < ?2";
        let values = params![project, oldest.as_bytes()];
        connection.prepare_cached(sql)?.write(values)?;
    }
    Ok(())
}

impl PostgresStore {
    /// Returns true if the transaction with this token was committed. Waits until a transaction that still writes to the
    /// project has ended.
    pub(super) fn is_committed(
        &self,
        project: &ProjectName,
        token: RecordId,
    ) -> Result<bool, StoreError> {
        let session = self.session()?;
        let found = find_token(&session, project, token);
        match &found {
            // The search for the token may have created the project.
            Ok(_) => session.rollback(),
            Err(_) => session.discard(),
        }
        found.map_err(|failure| server_error::of_failure(failure, &self.server))
    }
}

fn find_token(
    session: &PgSession,
    project: &ProjectName,
    token: RecordId,
) -> Result<bool, Failure> {
    let Some(begin) = Isolation::Write.begin() else {
        return Ok(false);
    };
    session.begin(begin)?;
    let connection = Connection::Postgres(session);
    // Blocks until a transaction that has created the project or holds its lock has ended.
    let (number, is_new) = row_codec::project_or_new(connection, project, SystemClock.now())?;
    if is_new {
        return Ok(false);
    }
    row_codec::lock(connection, number)?;
    let sql = "SELECT count(*) FROM commits WHERE project = ?1 AND token = ?2";
    let values = params![number, token.as_bytes()];
    let count: i64 = connection.query_row(sql, values, |row| row.get(0))?;
    Ok(count > 0)
}

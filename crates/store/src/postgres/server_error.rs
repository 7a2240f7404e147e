//! Errors of PostgreSQL and of the connection to it, each with the next step.

use crate::StoreError;
use crate::sql::SqlError;
use crate::sql::failure::Failure;
use deadpool::managed::{PoolError, TimeoutType};
use heirloom_model::limits;
use std::error::Error as _;
use std::io;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Reaction to an error inside a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// The transaction had no effect, and may succeed when it is repeated.
    Repeat,
    /// The connection is lost.
    Reconnect,
    /// Repeating the transaction does not help.
    Fail,
}

/// Returns the reaction to an error.
pub(super) fn recovery_of(failure: &Failure) -> Recovery {
    let Failure::Sql(SqlError::Postgres(error)) = failure else {
        return Recovery::Fail;
    };
    let Some(code) = error.code() else {
        return Recovery::Reconnect;
    };
    let repeatable = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        // Two writers that create the same project or key at once: the second finds the row of the first.
        SqlState::UNIQUE_VIOLATION,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    if repeatable.contains(code) {
        Recovery::Repeat
    } else if is_disconnection(code) || is_outdated_plan(error) {
        Recovery::Reconnect
    } else {
        Recovery::Fail
    }
}

/// Returns true if the server may have executed the statement although this error was returned.
pub(super) fn is_uncertain(error: &SqlError) -> bool {
    match error {
        SqlError::Postgres(error) => error.code().is_none_or(is_disconnection),
        SqlError::Timeout(_) => true,
        SqlError::Sqlite(_) => false,
    }
}

/// Returns true if a prepared statement is of an older schema: another program has migrated the tables meanwhile.
fn is_outdated_plan(error: &tokio_postgres::Error) -> bool {
    let database = error.as_db_error();
    database.is_some_and(|database| {
        *database.code() == SqlState::FEATURE_NOT_SUPPORTED
            && database.message().contains("cached plan")
    })
}

/// Returns true for errors after which the server closes the connection, or accepts none for a while.
fn is_disconnection(code: &SqlState) -> bool {
    let closing = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    closing.contains(code) || code.code().starts_with("08")
}

/// Returns true if the server was there but did not accept the connection, which it may do soon.
pub(super) fn is_interrupted(error: &PoolError<Error>) -> bool {
    let PoolError::Backend(error) = error else {
        return false;
    };
    let io = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let is_reset = io.is_some_and(|io| {
        matches!(
            io.kind(),
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
        )
    });
    let code = error.code();
    is_reset
        || error.is_closed()
        || code
            .is_some_and(|code| *code == SqlState::TOO_MANY_CONNECTIONS || is_disconnection(code))
}

/// Converts an error of the pool.
pub(super) fn of_pool(error: PoolError<Error>, server: &str) -> StoreError {
    match error {
        PoolError::Backend(error) => of_postgres(&error, server),
        PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => unavailable(
            server,
            format!(
                "it did not open a connection within {} s",
                limits::POSTGRES_CONNECT_TIMEOUT_S
            ),
            "check the address, and the network to the database",
        ),
        PoolError::Timeout(TimeoutType::Wait) => unavailable(
            server,
            format!(
                "all connections to it were in use for {} s",
                limits::POSTGRES_POOL_TIMEOUT_S
            ),
            "raise `store.connections`, or lower the load",
        ),
        other @ (PoolError::Closed
        | PoolError::NoRuntimeSpecified
        | PoolError::PostCreateHook(_)) => unavailable(server, other.to_string(), RETRY),
    }
}

const RETRY: &str =
    "try again in some seconds; `heirloom fleet status` shows the state of the database";

/// Converts a failure of an operation.
pub(super) fn of_failure(failure: Failure, server: &str) -> StoreError {
    match failure {
        Failure::Store(error) => error,
        Failure::Damaged(problem) => StoreError::Backend(format!("{server}: {problem}")),
        Failure::Sql(SqlError::Postgres(error)) => of_postgres(&error, server),
        Failure::Sql(SqlError::Timeout(longest)) => unavailable(
            server,
            format!("it did not answer within {longest:?}"),
            "look for what blocks the database or the network to it",
        ),
        Failure::Sql(SqlError::Sqlite(error)) => {
            StoreError::Backend(format!("{server}: a row has an unexpected value: {error}"))
        }
    }
}

/// Converts an error of PostgreSQL.
pub(super) fn of_postgres(error: &Error, server: &str) -> StoreError {
    let Some(database) = error.as_db_error() else {
        let mut problem = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !problem.contains(&text) {
                problem = format!("{problem}: {text}");
            }
            source = cause.source();
        }
        if problem.contains("TLS") {
            return StoreError::Server {
                server: server.to_owned(),
                problem,
                hint: "check sslmode and sslrootcert of the address, and the certificate of the server",
                is_transient: false,
            };
        }
        return unavailable(server, problem, RETRY);
    };
    let code = database.code();
    let problem = database.message().to_owned();
    let failed = |hint: &'static str| StoreError::Server {
        server: server.to_owned(),
        problem: problem.clone(),
        hint,
        is_transient: false,
    };
    if *code == SqlState::INVALID_PASSWORD || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION
    {
        failed("check the user, and the password in PGPASSWORD or the password file")
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        failed("create the database, then run `heirloom fleet init`")
    } else if *code == SqlState::UNDEFINED_TABLE {
        failed("run `heirloom fleet init` once to create the tables")
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        failed("grant the user rights on the tables of the database")
    } else if *code == SqlState::UNDEFINED_FILE || *code == SqlState::FEATURE_NOT_SUPPORTED {
        failed("install the extension, or use a PostgreSQL that has it")
    } else if *code == SqlState::INVALID_SQL_STATEMENT_NAME
        || *code == SqlState::DUPLICATE_PSTATEMENT
    {
        failed("leave `prepared_statements=on` out of the address: the pooler does not support it")
    } else if *code == SqlState::DISK_FULL {
        StoreError::DiskFull(format!("{server}: {problem}"))
    } else if *code == SqlState::QUERY_CANCELED {
        unavailable(
            server,
            problem,
            "the statement took too long: raise `statement_timeout`, or look for what blocks the database",
        )
    } else if *code == SqlState::TOO_MANY_CONNECTIONS {
        unavailable(
            server,
            problem,
            "raise `max_connections` of the database, lower `store.connections`, or put PgBouncer in between",
        )
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        unavailable(
            server,
            "it is read-only".to_owned(),
            "name the primary, or all servers with target_session_attrs=read-write",
        )
    } else if is_disconnection(code)
        || *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::LOCK_NOT_AVAILABLE
        || *code == SqlState::OUT_OF_MEMORY
    {
        unavailable(server, problem, RETRY)
    } else {
        let detail = database.detail().map(|detail| format!(" ({detail})"));
        StoreError::Backend(format!("{server}: {problem}{}", detail.unwrap_or_default()))
    }
}

/// Creates the error of a database that cannot be used at the moment.
pub(super) fn unavailable(server: &str, problem: String, hint: &'static str) -> StoreError {
    StoreError::Server {
        server: server.to_owned(),
        problem,
        hint,
        is_transient: true,
    }
}

//! Limits of a store over PostgreSQL.

/// Maximum number of statements that a connection keeps prepared; further ones are planned at each use.
pub const POSTGRES_PREPARED_MAX: usize = 512;
/// Time for which the token of a commit is kept, seconds.
pub const POSTGRES_TOKEN_KEPT_S: u64 = 3_600;
/// Connections of one process to the database.
pub const POSTGRES_CONNECTIONS_MAX: usize = 16;
/// Maximum wait for a free connection, seconds.
pub const POSTGRES_POOL_TIMEOUT_S: u64 = 10;
/// Maximum time to open a connection, seconds.
pub const POSTGRES_CONNECT_TIMEOUT_S: u64 = 5;
/// Maximum time of one round trip, seconds; the statement is cancelled then.
pub const POSTGRES_STATEMENT_TIMEOUT_S: u64 = 30;
/// Attempts of a transaction that the database rolled back because of another one, or of a read whose connection was
/// lost.
pub const POSTGRES_ATTEMPTS_MAX: u32 = 8;
/// Wait before the second attempt, milliseconds; it doubles with each attempt, and varies by half.
pub const POSTGRES_BACKOFF_MS: u64 = 5;
/// Maximum time to cancel a statement and to receive its error, seconds. The connection is discarded in any case.
pub const POSTGRES_CANCEL_GRACE_S: u64 = 2;
/// Maximum time to find out whether a transaction was committed whose connection was lost, seconds.
pub const POSTGRES_UNCERTAIN_WAIT_S: u64 = 10;
/// Time without a message after which a connection is tested, seconds.
pub const POSTGRES_HEARTBEAT_S: u64 = 30;
/// Maximum wait before a watcher of changes connects again, milliseconds.
pub const POSTGRES_RECONNECT_MAX_MS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Time after which everything works again once the database is back, seconds.
    const RECOVERY_S: u64 = 10;

    #[test]
    fn watcher_is_back_within_recovery_time() {
        let longest = POSTGRES_RECONNECT_MAX_MS + POSTGRES_BACKOFF_MS;
        assert!((0..=RECOVERY_S * 1_000).contains(&longest));
        // A silent connection is noticed before a statement of the same age is given up twice.
        assert!((1..=POSTGRES_STATEMENT_TIMEOUT_S).contains(&POSTGRES_HEARTBEAT_S));
        // A token is looked for at most this long after its commit.
        let latest = POSTGRES_UNCERTAIN_WAIT_S + POSTGRES_STATEMENT_TIMEOUT_S;
        assert!(POSTGRES_TOKEN_KEPT_S >= 10 * latest);
    }
}

//! Limits after which learned records end: they stay stored and are not offered any more.

/// Number of later sessions of the project that are told an open failure.
pub const OPEN_FAILURE_SESSIONS_MAX: usize = 3;
/// Number of successes of a command after which its failure without a known fix is contradicted.
pub const FAILURE_SUCCESSES_MAX: u64 = 5;
/// Age of a value of a moment after which it is not offered, days.
pub const ONE_OFF_VALUE_DAYS_MAX: i64 = 30;
/// Days of use of the project after which an unconfirmed proposal is not offered.
pub const PROPOSAL_USE_DAYS_MAX: usize = 90;

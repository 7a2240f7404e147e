//! Writing: transactions, group commit, and deferred maintenance.

pub(super) mod maintenance;
mod transaction;

//! Writing: transactions, group commit, and deferred maintenance.

pub(super) mod group_commit;
pub(super) mod maintenance;
mod transaction;

//! Writing: transactions, group commit, application of changes, purge, and deferred maintenance.

pub(super) mod apply;
mod change_writer;
mod conflict_resolution;
pub(super) mod group_commit;
mod import_batches;
pub(super) mod maintenance;
pub(super) mod purge;
mod receipt_writer;
mod transaction;

//! Application of changes, and purge.

pub(crate) mod apply;
pub(crate) mod change_keys;
mod change_writer;
mod conflict_resolution;
pub(crate) mod group_commit;
mod import_batches;
mod key_case;
pub(crate) mod known_rows;
pub(crate) mod project_queues;
pub(crate) mod purge;
mod receipt_writer;
mod record_rows;

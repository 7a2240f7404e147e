//! Application of changes, and purge.

pub(crate) mod apply;
mod change_writer;
mod conflict_resolution;
mod import_batches;
pub(crate) mod purge;
mod receipt_writer;

//! Limits of the salvage of a damaged database.

/// Maximum size of a damaged database, and of its journal, for salvage, bytes.
pub const SALVAGE_BYTES_MAX: u64 = 4 << 30;
/// Maximum number of unrecovered rows that a repair lists.
pub const ROWS_LEFT_OUT_NAMED_MAX: usize = 1_000;

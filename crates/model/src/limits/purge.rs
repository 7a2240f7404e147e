//! Limits of purges.

/// Longest search text of a purge, bytes.
pub const PURGE_TEXT_BYTES_MAX: usize = 4 << 10;

//! Limits of the mirror file.

/// Largest accepted number of entries (decisions and errors) in the mirror.
pub const MIRROR_ENTRIES_MAX: usize = 100_000;
/// Default number of entries (decisions and errors) in the mirror.
pub const MIRROR_ENTRIES_DEFAULT: usize = 50;
/// Minimum interval between two rewrites of a mirror by one process, milliseconds.
pub const MIRROR_PAUSE_MS: u64 = 1_000;
/// Maximum size of a mirror file, bytes.
pub const MIRROR_BYTES_MAX: u64 = 64 << 20;

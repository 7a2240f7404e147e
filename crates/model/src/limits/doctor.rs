//! Limits of `heirloom doctor`.

/// Free space below which `doctor` warns, bytes.
pub const DISK_FREE_BYTES_MIN: u64 = 100 << 20;
/// Free space below which `doctor` warns, as a multiple of the store's size: a repair or a restore needs it.
pub const DISK_FREE_STORES_MIN: u64 = 2;
/// Seconds by which the newest record may be in the future before `doctor` warns about the clock.
pub const CLOCK_AHEAD_S_MAX: i64 = 300;
/// Age after which a temporary file is stale, seconds: no write takes that long.
pub const STALE_TEMP_FILE_S_MIN: i64 = 3_600;
/// Maximum number of findings per check that `doctor` lists.
pub const FINDINGS_SHOWN_MAX: usize = 10;
/// Maximum number of entries of a project's folder that `doctor` reads.
pub const FOLDER_ENTRIES_MAX: usize = 100_000;

//! Limits of retention, backups, repair, and `heirloom doctor`.

/// Maximum size of the file with the project folders of a store in the user's data folder, bytes.
pub const STORE_HOMES_BYTES_MAX: u64 = 64 << 10;
/// Longest search text of a purge, bytes.
pub const PURGE_TEXT_BYTES_MAX: usize = 4 << 10;
/// Days for which a backup from before a migration or a restore is retained.
pub const RETAINED_BACKUP_DAYS: i64 = 30;
/// Maximum size of a damaged database, and of its journal, for salvage, bytes.
pub const SALVAGE_BYTES_MAX: u64 = 4 << 30;
/// Maximum number of unrecovered rows that a repair lists.
pub const ROWS_LEFT_OUT_NAMED_MAX: usize = 1_000;
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
/// Default retention of episodes, days.
pub const EPISODES_KEPT_DAYS_DEFAULT: u32 = 30;
/// Largest accepted retention, days: a century. 0 keeps records for good.
pub const RETENTION_DAYS_MAX: u32 = 36_500;

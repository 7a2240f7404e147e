//! Limits of backups and of the folders of a store.

/// Days for which a backup from before a migration or a restore is retained.
pub const RETAINED_BACKUP_DAYS: i64 = 30;
/// Maximum size of the file with the project folders of a store in the user's data folder, bytes.
pub const STORE_HOMES_BYTES_MAX: u64 = 64 << 10;

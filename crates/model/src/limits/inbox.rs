//! Limits of the inbox.

/// Maximum size of an inbox file, bytes.
pub const INBOX_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of inbox files that one sweep processes.
pub const INBOX_SWEEP_MAX: usize = 1_000;
/// Maximum number of files that a sweep lists, and that are counted.
pub const INBOX_LISTED_MAX: usize = 2_000;
/// Time after which a command begins no further file of the inbox, milliseconds.
pub const INBOX_COMMAND_MS: u64 = 250;
/// Time after which a watcher begins no further file of the inbox, milliseconds.
pub const INBOX_WATCH_MS: u64 = 5_000;
/// Time for which an unreadable inbox file is retried, because a program may still be writing it, milliseconds.
pub const INBOX_RETRY_MS: i64 = 2_000;
/// Maximum number of processed inbox files that are kept.
pub const INBOX_DONE_MAX: usize = 1_000;

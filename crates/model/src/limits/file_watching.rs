//! Limits of the inbox and the watching of files.

/// Maximum size of an inbox file, bytes.
pub const INBOX_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of inbox files that one sweep processes.
pub const INBOX_SWEEP_MAX: usize = 1_000;
/// Time for which an unreadable inbox file is retried, because a program may still be writing it, milliseconds.
pub const INBOX_RETRY_MS: i64 = 2_000;
/// Maximum number of processed inbox files that are kept.
pub const INBOX_DONE_MAX: usize = 1_000;
/// Polling interval of `watch`, milliseconds.
pub const WATCH_PAUSE_MS: u64 = 100;
/// Polling interval of a server for inbox and workspace files, milliseconds.
pub const SERVER_WATCH_PAUSE_MS: u64 = 200;
/// Maximum number of notes about the files of a project that a server keeps for its clients.
pub const SERVER_FILE_NOTES_MAX: usize = 20;

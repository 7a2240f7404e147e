//! Limits of the watching of files.

/// Polling interval of `watch`, milliseconds.
pub const WATCH_PAUSE_MS: u64 = 100;
/// Polling interval of a server for inbox and workspace files, milliseconds.
pub const SERVER_WATCH_PAUSE_MS: u64 = 200;
/// Maximum number of notes about the files of a project that a server keeps for its clients.
pub const SERVER_FILE_NOTES_MAX: usize = 20;

//! Limits of group memory.

/// Longest note of `update_memory`, bytes.
pub const GROUP_NOTE_BYTES_MAX: usize = 16 << 10;
/// Number of conversation summaries that a group keeps; the oldest are dropped.
pub const GROUP_SUMMARIES_MAX: usize = 5;
/// Longest conversation summary inside a group summary, characters.
pub const GROUP_SUMMARY_CHARS_MAX: usize = 12_000;
/// Maximum size read from the end of a group file, bytes; a larger persona is omitted.
pub const GROUP_FILE_BYTES_MAX: u64 = 1 << 20;
/// Number of newest notes that a group's file is compared with.
pub const GROUP_NOTES_COMPARED_MAX: usize = 200;
/// Time within which a note that disappeared from the end of the file is written again once, seconds.
pub const GROUP_NOTE_BACK_S: i64 = 24 * 60 * 60;
/// Time after which an editor is assumed to have seen a note in the file, milliseconds. A note that was rewritten
/// once and is missing again stays removed.
pub const GROUP_NOTE_KNOWN_MS: i64 = 60_000;

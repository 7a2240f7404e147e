//! Limits of working memories.

/// Maximum number of working memories of a server; the least recently used one is dropped.
pub const WORKING_MEMORIES_MAX: usize = 1_000;
/// Longest text in an agent's working memory, bytes.
pub const WORKING_TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum number of constraints, of context entries and of notes in an agent's working memory.
pub const WORKING_ITEMS_MAX: usize = 1_000;
/// Largest snapshot of an agent's working memory, bytes.
pub const WORKING_BYTES_MAX: usize = 4 << 20;

//! Limits of conversation windows: input, summaries without a model, archives.

/// Length of the excerpt of an agent's first plan in anchors and summaries, characters.
pub const WINDOW_PLAN_CHARS_MAX: usize = 600;
/// Maximum number of ids of dropped messages in a window's summary.
pub const WINDOW_SUMMARY_IDS_MAX: usize = 4;
/// Maximum size of a history for `compact`, bytes.
pub const WINDOW_INPUT_BYTES_MAX: usize = 256 << 20;
/// Largest number of a window's policy: characters, tokens, messages or seconds.
pub const WINDOW_NUMBER_MAX: u32 = 1_000_000_000;
/// Maximum unpacked size of a conversation for `bench window`, bytes.
pub const WINDOW_BENCH_BYTES_MAX: u64 = 256 << 20;
/// Maximum size of an archive or overflow file for `expand`, bytes.
pub const WINDOW_ARCHIVE_BYTES_MAX: u64 = 512 << 20;
/// Number of expanded texts that a session remembers; the oldest are dropped.
pub const WINDOW_EXPANDED_MAX: usize = 1_000;
/// Number of newest archive ids that a session keeps.
pub const WINDOW_ARCHIVES_MAX: usize = 4_000;
/// Maximum number of shortened outputs that the timeline of a window lists.
pub const TIMELINE_SHORTENED_MAX: usize = 10;

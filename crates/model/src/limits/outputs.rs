//! Limits of outputs of agents and histories of their conversations.

/// Length of the end of an agent's last output that prompts contain, characters.
pub const OUTPUT_CHARS_MAX: usize = 2_000;
/// Maximum size of an accepted output, bytes.
pub const OUTPUT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Maximum size of the stored end of an output, bytes of JSON: with its metadata it fits a record's attributes.
pub const OUTPUT_FULL_BYTES_MAX: usize = 768 << 10;
/// Longest metadata of an output, bytes of JSON.
pub const OUTPUT_METADATA_BYTES_MAX: usize = 64 << 10;
/// Maximum size of an output file, bytes.
pub const OUTPUT_FILE_BYTES_MAX: u64 = 32 << 20;
/// Longest file name of an output without extension, bytes; a longer one ends with a hash.
pub const OUTPUT_NAME_BYTES_MAX: usize = 200;
/// Maximum number of output files, and of histories, that one import or list reads.
pub const OUTPUT_FILES_MAX: usize = 4_000;
/// Default number of a session's interactions that prompts contain in full.
pub const HISTORY_LIVE_DEFAULT: usize = 10;
/// Maximum number of a session's interactions that prompts contain in full.
pub const HISTORY_LIVE_MAX: usize = 1_000;
/// Default token budget of a conversation's turns in a context.
pub const HISTORY_BUDGET_TOKENS_DEFAULT: usize = 8_000;
/// Interactions that the summary for prompts covers.
pub const HISTORY_SUMMARISED: usize = 5;
/// Longest goal, and longest output, in a line of a summary, characters.
pub const HISTORY_EXCERPT_CHARS_MAX: usize = 160;
/// Number of older interactions that a summary lists; earlier ones are counted.
pub const HISTORY_OLDER_MAX: usize = 50;
/// Number of newest turns from which a session's history is built.
pub const HISTORY_TURNS_MAX: usize = 2_000;
/// Maximum size of a `history.json`, bytes.
pub const HISTORY_FILE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of interactions imported from one `history.json`; further ones are counted.
pub const HISTORY_INTERACTIONS_MAX: usize = 100_000;

//! Limits of session histories: the interactions of a conversation.

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

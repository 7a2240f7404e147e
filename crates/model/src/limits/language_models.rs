//! Limits of calls of language models and their cost.

/// Maximum size of the data of one language model call, bytes.
pub const WRITER_DATA_BYTES_MAX: usize = 4 << 20;
/// Maximum size of a language model's response, bytes.
pub const WRITER_ANSWER_BYTES_MAX: u64 = 2 << 20;
/// Maximum number of attempts per call, if the service is busy or fails.
pub const WRITER_TRIES_MAX: u32 = 2;
/// Default back-off before the second attempt, milliseconds.
pub const WRITER_PAUSE_MS: u64 = 500;
/// Longest accepted `Retry-After` of a language model service, milliseconds.
pub const WRITER_PAUSE_MS_MAX: u64 = 10_000;
/// Connection timeout, milliseconds.
pub const WRITER_CONNECT_MS_MAX: u64 = 10_000;
/// Largest accepted timeout of one attempt, seconds.
pub const WRITER_TIMEOUT_S_MAX: u64 = 600;
/// Largest accepted number of output tokens.
pub const WRITER_OUTPUT_TOKENS_MAX: u64 = 32_000;
/// Largest accepted daily limit, in tokens and in cents.
pub const WRITER_DAILY_MAX: u64 = 1_000_000_000;
/// Maximum size of the spend ledger file, bytes.
pub const SPEND_LEDGER_BYTES_MAX: u64 = 64 << 10;

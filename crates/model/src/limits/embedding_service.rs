//! Limits of services that compute embeddings.

/// Maximum number of dimensions of an external embedder's vectors.
pub const EMBEDDING_DIMS_MAX: usize = 4_096;
/// Longest model name of an external embedder, bytes.
pub const EMBEDDING_MODEL_BYTES_MAX: usize = 200;
/// Leading bytes of a text that an external embedder gets: no tokenizer makes more than the usual 8,192 tokens of it.
pub const EMBEDDING_TEXT_BYTES_MAX: usize = 8_000;
/// Maximum number of texts per embedding request.
pub const EMBEDDING_BATCH_TEXTS_MAX: usize = 64;
/// Maximum size of the texts per embedding request, bytes; a single text may exceed it.
pub const EMBEDDING_BATCH_BYTES_MAX: usize = 128 << 10;
/// Maximum size of an embeddings response, bytes.
pub const EMBEDDING_ANSWER_BYTES_MAX: u64 = 32 << 20;
/// Maximum number of attempts for one batch, if the service is busy or fails.
pub const EMBEDDING_TRIES_MAX: u32 = 4;
/// Back-off before the second attempt, milliseconds; it doubles with each later one.
pub const EMBEDDING_PAUSE_MS: u64 = 250;
/// Longest accepted `Retry-After` of an embeddings service, milliseconds.
pub const EMBEDDING_PAUSE_MS_MAX: u64 = 20_000;
/// Timeout of one batch request, milliseconds.
pub const EMBEDDING_BATCH_TIMEOUT_MS: u64 = 60_000;
/// Default timeout of a query's vector, milliseconds.
pub const EMBEDDING_QUESTION_MS_DEFAULT: u64 = 2_000;
/// Largest accepted timeout of a query's vector, milliseconds.
pub const EMBEDDING_QUESTION_MS_MAX: u64 = 60_000;
/// Number of texts that a command embeds before it exits, if it wrote many.
pub const EMBEDDING_CATCH_UP_MAX: usize = 1_000;
/// Time after which such a command starts no further batch, milliseconds.
pub const EMBEDDING_CATCH_UP_MS: u64 = 10_000;
/// Largest share of texts without a vector of an external model, as one in n: such texts rank by words alone.
pub const EMBEDDING_MISSING_ONE_IN: u64 = 20;

//! Limits of the HTTP API: pages, idempotency keys.

/// Default page size of the HTTP API.
pub const API_PAGE_DEFAULT: usize = 50;
/// Maximum page size of the HTTP API.
pub const API_PAGE_MAX: usize = 1_000;
/// Number of unknown fields of a body that an answer names.
pub const BODY_WARNINGS_MAX: usize = 10;
/// Number of responses that a server keeps for idempotency keys; the oldest are dropped.
pub const IDEMPOTENCY_KEPT: usize = 10_000;
/// Total size of those responses, bytes.
pub const IDEMPOTENCY_BYTES_MAX: usize = 16 << 20;
/// Total size of the responses of repeatable requests among them, bytes.
pub const IDEMPOTENCY_REPEATABLE_BYTES_MAX: usize = 4 << 20;
/// Size of the largest response that is kept, bytes.
pub const IDEMPOTENCY_ANSWER_BYTES_MAX: usize = 256 << 10;
/// Longest `Idempotency-Key`, bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 200;

//! Limits of the built-in vectors.

/// Number of leading word pieces of a text that its vector is computed from.
pub const VECTOR_PIECES_MAX: usize = 192;
/// Number of leading word pieces of the first line that count twice.
pub const VECTOR_HEAD_PIECES_MAX: usize = 64;
/// Number of word pieces of a query that its vector is computed from.
pub const QUESTION_PIECES_MAX: usize = 512;

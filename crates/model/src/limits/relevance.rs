//! Limits of the calibrated relevance.

/// Maximum number of word pieces of a question whose similarity to those of a record is computed.
pub const RELEVANCE_QUESTION_PIECES_MAX: usize = 160;
/// Maximum number of word pieces of a record that are compared.
pub const RELEVANCE_RECORD_PIECES_MAX: usize = 96;

//! Limits of the review of stored knowledge.

/// Maximum number of records that a review compares.
pub const REVIEW_RECORDS_MAX: usize = 20_000;

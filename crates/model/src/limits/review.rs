//! Limits of the review of stored knowledge.

/// Maximum number of records that a review compares.
pub const REVIEW_RECORDS_MAX: usize = 20_000;
/// Maximum number of proposals that the inbox and `heirloom propose` list, newest first.
pub const PROPOSALS_LISTED_MAX: usize = 1_000;

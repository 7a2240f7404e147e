//! Query parsing and ranking of recall.
//!
//! Pure functions of the query, the store's candidates and their records; the result is a ranked list with a
//! breakdown of each score. The same input gives the same list.

mod acknowledgements;
mod dates;
mod dedup;
pub mod error_signature;
pub mod one_hop;
mod proximity;
pub mod query;
mod rank;
mod recall_item;
mod relevant_hits;
pub mod review;
pub mod shared_identifiers;
mod verbatim;
pub mod weights;

pub use acknowledgements::is_no_answer;
pub use dates::{TimeSpan, first_date};
pub use dedup::{deduplicate, fill_budget_mmr};
pub use query::{ParsedQuery, QueryFilters};
pub use rank::{Candidate, RankContext, Ranked, ScoreBreakdown, rank};
pub use recall_item::RecallItem;
pub use relevant_hits::{hit_features, is_relevant, rate_and_order, rate_hits, retain_relevant};
pub use verbatim::VerbatimQuery;

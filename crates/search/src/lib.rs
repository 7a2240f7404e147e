//! Search without a database: the text index as pure data, query parsing and ranking.
//!
//! The store keeps the bytes of the index; this crate interprets them and ranks the candidates.

mod hit;
pub mod index;
pub mod recall;
pub mod relevance;

pub use hit::Hit;

//! What a question asks, and in which order its answers stand.
//!
//! Pure: the question's text, the store's candidates and the records behind them in; a ranked list with the
//! parts of every score out. The same input gives the same list.

pub mod ask;
mod dates;
mod fold;
mod item;
mod pairs;
mod rank;
pub mod review;
pub mod trace;
pub mod weights;

pub use ask::{Asked, Filters};
pub use dates::{Span, first};
pub use fold::{fill, fold};
pub use item::Item;
pub use rank::{Asking, Candidate, Parts, Ranked, rank};

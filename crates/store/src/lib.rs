//! Where Heirloom keeps records: the [`Store`] trait, its SQLite implementation, and the suite that every
//! implementation must pass.
//!
//! Synchronous on purpose: hooks and the command line start no runtime.

mod caps;
pub mod conformance;
pub mod durable;
mod error;
mod faulty;
mod filter;
mod sqlite;
mod store;

pub use error::StoreError;
pub use faulty::{Calls, Complaint, FaultPlan, FaultyStore, Mishap};
pub use filter::{Filter, Order, When};
pub use sqlite::SqliteStore;
pub use store::{Applied, Change, Counts, Description, Store, Verdict};

//! Where Heirloom keeps records: the [`Store`] trait, its SQLite implementation, and the suite that every
//! implementation must pass.
//!
//! Synchronous on purpose: hooks and the command line start no runtime.

/// The name of a database in the folder of a project.
pub const DATABASE: &str = "heirloom.db";
/// The name of the file beside it that says that one was made there.
pub const MARKER: &str = "store.json";
/// What that file holds.
pub const MARKER_TEXT: &[u8] = b"{\"database\": \"heirloom.db\"}\n";

mod caps;
pub mod conformance;
pub mod durable;
mod error;
mod faulty;
mod filter;
mod receipts;
mod search;
mod sqlite;
mod store;
mod upgrade;
mod vectors;

pub use error::StoreError;
pub use faulty::{Calls, Complaint, FaultPlan, FaultyStore, Mishap};
pub use filter::{Filter, Order, When};
pub use receipts::{Newest, Receipt, Told, Use};
pub use search::{Found, Hit, Search, VectorsOf};
pub use sqlite::{CopyReason, Examination, Repaired, Restored, Salvaged, SqliteStore, StoredCopy};
pub use store::{Applied, Change, Counts, Description, Purged, Selection, Store, Verdict};
pub use upgrade::{Teller, Upgrade};
pub use vectors::{ModelVector, NewVectors, Unembedded, UnembeddedText, VectorRow};

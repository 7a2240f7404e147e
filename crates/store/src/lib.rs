//! Record storage: the [`Store`] trait, its SQLite implementation, and the conformance suite that every
//! implementation must pass.
//!
//! The API is synchronous on purpose: hooks and the command line start no async runtime.

/// File name of a database in the folder of a project.
pub const DATABASE: &str = "heirloom.db";

mod changes;
pub mod conformance;
mod error;
mod fault_injection;
mod lane;
mod marker;
mod migration_progress;
mod model_vectors;
mod postgres;
mod receipts;
mod record_filter;
mod relational;
mod search;
mod shared_store;
mod sql;
mod sqlite;
mod store;
mod transfer;
mod validation;

pub use changes::{AppliedChange, Change, Verdict};
pub use error::StoreError;
pub use fault_injection::{CountedCalls, FaultPlan, FaultyStore, InjectedError, InjectedFault};
pub use heirloom_search::Hit;
pub use lane::Lane;
pub use marker::{MARKER, StoreMarker};
pub use migration_progress::{MigrationEvent, ProgressSink};
pub use model_vectors::{EmbeddingBacklog, ModelVector, UnembeddedText, VectorBatch, VectorRow};
pub use postgres::{
    AddressSources, ChangeWatcher, FleetNode, FleetProgram, FleetProject, FleetStatus,
    PostgresAddress, PostgresStore, StoreChange,
};
pub use receipts::{DeliveryStats, Receipt, RecentReceipts, RecordUsage};
pub use record_filter::{AsOf, Filter, Order};
pub use search::{SearchQuery, SearchResults, SentenceQuestion, VectorSource};
pub use shared_store::{SharedStore, SharedStoreStatus};
pub use sqlite::{
    BackupReason, ForeignDatabase, ForeignDatabaseError, OfflineCheckReport, ProjectLocation,
    ProjectSummary, ProjectSurvey, RepairOutcome, RestoreOutcome, RetainedBackup, SalvageReport,
    SkippedRow, SqliteStore,
};
pub use store::{Description, KindCounts, PurgeReport, PurgeTarget, Store};
pub use transfer::{ProjectTransfer, TransferEnd, transfer_project, transferable_projects};

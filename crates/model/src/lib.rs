//! Plain types of Heirloom: records and their kinds, ids, limits, budgets and the clock.
//!
//! This crate does no I/O, knows no SQL or HTTP, and is not async. All other crates use these types.

pub mod audit;
pub mod bookkeeping;
pub mod budget;
pub mod case;
pub mod clock;
pub mod conflict;
pub mod context;
pub mod database_address;
pub mod embedder;
pub mod end_reason;
pub mod error;
pub mod event_stream;
pub mod foreign_table;
pub mod id;
pub mod iteration_outcome;
pub mod kind;
pub mod kinds;
pub mod language_model;
pub mod limits;
pub mod mark;
pub mod merge;
pub mod permissions;
pub mod plan_name;
pub mod prompt_safety;
pub mod rating;
pub mod record;
pub mod record_meaning;
pub mod scope;
pub mod section;
pub mod session;
pub mod settings;
pub mod signal;
pub mod similarity;
pub mod spend_meter;
pub mod statement;
#[cfg(test)]
mod stored_form_tests;
pub mod summary_prompt;
pub mod text;
pub mod validity_gap;

pub use audit::{Action, Event, ImportBatch};
pub use budget::Budget;
pub use case::{Case, CaseState};
pub use clock::{Clock, FixedClock, SystemClock};
pub use conflict::ConflictPolicy;
pub use embedder::{EmbedPurpose, Embedder};
pub use end_reason::EndReason;
pub use error::{ErrorKind, Fault, TransientCause};
pub use id::{IdSource, RecordId};
pub use iteration_outcome::{AgentStatus, IterationOutcome, LaunchOutcome};
pub use jiff::{Timestamp, ToSpan, civil, tz};
pub use kind::Kind;
pub use kinds::KindData;
pub use language_model::{WriteError, WriteRequest, WriteResponse, Writer};
pub use mark::Mark;
pub use merge::MergeRule;
pub use permissions::{AccessRole, Authority, Permission};
pub use plan_name::PlanName;
pub use record::{Confidence, ProjectName, Record};
pub use scope::Scope;
pub use session::{Message, Role, Session};
pub use settings::Settings;
pub use spend_meter::SpendMeter;
pub use validity_gap::ValidityGap;

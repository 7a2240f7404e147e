//! Plain types of Heirloom: records and their kinds, ids, limits, budgets and the clock.
//!
//! Nothing here does I/O, knows SQL or HTTP, or is async. Every other crate speaks in these types.

pub mod access;
pub mod audit;
pub mod budget;
pub mod clock;
pub mod conflict;
pub mod context;
pub mod embedder;
pub mod fault;
pub mod id;
pub mod kind;
pub mod kinds;
pub mod lapse;
pub mod likeness;
pub mod limits;
pub mod mark;
pub mod merge;
pub mod meter;
pub mod outcome;
pub mod record;
pub mod scope;
pub mod section;
pub mod session;
pub mod settings;
pub mod signal;
pub mod stream;
pub mod text;
pub mod writer;

pub use access::{AccessRole, Deed};
pub use audit::{Action, Batch, Event};
pub use budget::Budget;
pub use clock::{Clock, FixedClock, SystemClock};
pub use conflict::ConflictPolicy;
pub use embedder::{Embedder, Purpose};
pub use fault::{ErrorKind, Fault, Trouble};
pub use id::{IdSource, RecordId};
pub use jiff::{Timestamp, ToSpan, civil, tz};
pub use kind::Kind;
pub use kinds::KindData;
pub use lapse::Lapse;
pub use mark::Mark;
pub use merge::Merge;
pub use meter::Meter;
pub use outcome::{AgentStatus, Outcome};
pub use record::{Confidence, ProjectName, Record};
pub use scope::Scope;
pub use session::{Message, Role, Session};
pub use settings::Settings;
pub use writer::{Asked, WriteError, Writer, Written};

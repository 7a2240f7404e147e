//! The engine of Heirloom: the rooms, and the [`Engine`] that composes them over a store.
//!
//! The library never talks to the user: it reads no environment, no home directory and no terminal.

pub mod adapters;
pub mod agentium;
pub mod context;
mod engine;
pub mod mirror;
pub mod places;
pub mod recall;
pub mod redact;
pub mod run;
pub mod signals;
pub mod streams;

pub use engine::{
    Arms, Carried, Check, ContextRequest, Doctor, Doubles, EndReason, Engine, ErrorLogged,
    ImportReport, IterationReport, Level, Mended, MirrorLoad, NewRecord, NewTurn, Observation,
    ObservedSignal, Observer, PruneReport, PurgeReport, Reading, RecallRequest, Recalled,
    Remembered, ResolvedBefore, Retire, RunEvent, RunReport, RunRequest, SignalOutcome, TaskChange,
    TaskDetails, Tried, TriedReport, TurnAdded, Undone, WentBack,
};
pub use heirloom_store::{
    Applied, Counts, Description, Filter, Order, Purged, Salvaged, Selection, Verdict, When,
};

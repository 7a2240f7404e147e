//! The engine of Heirloom: the rooms, and the [`Engine`] that composes them over a store.
//!
//! The library never talks to the user: it reads no environment, no home directory and no terminal.

pub mod adapters;
pub mod agentium;
pub mod analytics;
pub mod context;
mod engine;
pub mod group;
pub mod mirror;
pub mod places;
pub mod recall;
pub mod redact;
pub mod run;
pub mod shared;
pub mod signals;
pub mod streams;
pub mod working;

pub use engine::{
    Arms, ArtifactFilter, ArtifactStatus, Carried, Check, Conflict, ContextRequest, Doctor,
    Doubles, Embedded, EndReason, Engine, EpisodeFilter, ErrorLogged, ImportReport,
    IterationReport, Keep, Level, Mended, MirrorLoad, NewArtifact, NewEpisode, NewRecord, NewTurn,
    Observation, ObservedSignal, Observer, PruneReport, PurgeReport, Reading, RecallRequest,
    Recalled, Remembered, Remover, ResolvedBefore, Retire, RunEvent, RunReport, RunRequest,
    Settled, SharedFile, SignalOutcome, TaskChange, TaskDetails, Tried, TriedReport, TurnAdded,
    Undone, VerifiedArtifact, WentBack,
};
pub use engine::{Group, NewNote, Noted, Swept, Whose};
pub use heirloom_store::{
    Applied, Counts, Description, Filter, Order, Purged, Salvaged, Selection, Teller, Upgrade,
    Verdict, When,
};

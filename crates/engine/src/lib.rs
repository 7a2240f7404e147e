//! The engine of Heirloom: the rooms, and the [`Engine`] that composes them over a store.
//!
//! The library never talks to the user: it reads no environment, no home directory and no terminal.

pub mod adapters;
pub mod agentium;
pub mod analytics;
pub mod commands;
pub mod context;
pub mod directives;
mod engine;
pub mod failures;
pub mod graph;
pub mod group;
pub mod history;
pub mod hooks;
pub mod mirror;
pub mod outputs;
pub mod places;
pub mod planned;
pub mod recall;
pub mod redact;
pub mod run;
pub mod shared;
pub mod signals;
pub mod streams;
pub mod tracked;
pub mod transcripts;
pub mod working;
pub mod workspace;

pub use engine::Injected;
pub use engine::{
    Arms, ArtifactFilter, ArtifactStatus, Carried, Check, CommandBook, CommandFile, CommandSource,
    Conflict, ContextRequest, Doctor, Doubles, Embedded, EndReason, Engine, EpisodeFilter,
    ErrorLogged, ImportReport, IterationReport, Keep, Level, Listing, Mended, MirrorLoad,
    NewArtifact, NewEpisode, NewRecord, NewTurn, Observation, ObservedSignal, Observer, ProgramRun,
    PruneReport, PurgeReport, Reading, RecallRequest, Recalled, ReceiptDiff, ReceiptHead,
    ReceiptPart, Remembered, Remover, Rendered, ResolvedBefore, Retire, Revised, Revision,
    RunEvent, RunReport, RunRequest, Settled, SharedFile, SignalOutcome, StoredReceipt, TaskChange,
    TaskDetails, TaskProgress, Tried, TriedReport, TurnAdded, Undone, VerifiedArtifact, WentBack,
};
pub use engine::{
    Expanded, Purse, SessionWindow, Summariser, Whole, WindowPoint, WindowRequest, WindowStory,
    Windowed, WrittenSummary,
};
pub use engine::{Followed, MemoryCommand, NewToken, Page, Served, Token, Tokens, TokensStamp};
pub use engine::{Foreign, ForeignPart, ForeignReport, PartReport, RulesFile, foreign_workspace};
pub use engine::{Group, NewNote, Noted, Swept, Whose};
pub use engine::{
    HistorySource, NewOutput, OutputFiles, OutputSource, PlanOutput, SessionSummary, Tail,
};
pub use engine::{HookCall, HookCalls, HookRequest, Relevant};
pub use engine::{PageFile, PageSaved, PageText, PagesOf};
pub use engine::{
    Reach, TranscriptFate, TranscriptReport, TranscriptStart, TranscriptsReport, TranscriptsRequest,
};
pub use engine::{Shared, SharedOutcome, SyncReport, Workspace, WorkspacePage, Written};
pub use heirloom_store::{
    Applied, Counts, Description, Filter, Order, Purged, Salvaged, Selection, Teller, Upgrade, Use,
    Verdict, When,
};
pub use heirloom_window::{Form, Policy};

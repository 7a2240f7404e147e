//! Capture of agent sessions: answers to hook events, import of transcripts, observation of output, and the run loop.
//!
//! Each service borrows an [`Engine`](heirloom_engine::Engine) and writes only through the engine's services.

mod failures;
mod hooks;
mod lessons;
mod observe;
mod outbox;
mod run_loop;
mod session_learning;
mod transcripts;

pub use hooks::{HookCall, HookCallLog, HookRequest, Hooks, RelevantHit};
pub use observe::{Observation, ObservedSignal, Observer, Runs, SignalOutcome};
pub use outbox::{Outbox, WaitingEvent};
pub use run_loop::{EndReason, IterationReport, RunEvent, RunReport, RunRequest};
pub use session_learning::{
    JudgedSession, LearnAllReport, LearnedChange, Learning, SessionLessons,
};
pub use transcripts::{
    ImportScope, TranscriptOutcome, TranscriptReport, TranscriptStart, Transcripts,
    TranscriptsReport, TranscriptsRequest,
};

//! Capture of agent sessions: answers to hook events, import of transcripts, observation of output, and the run loop.
//!
//! Each service borrows an [`Engine`](heirloom_engine::Engine) and writes only through the engine's services.

mod failures;
mod hooks;
mod lessons;
mod observe;
mod run_loop;
mod transcripts;

pub use hooks::{HookCall, HookCallLog, HookRequest, Hooks, RelevantHit};
pub use lessons::{LearnAllReport, Learning, SessionLessons};
pub use observe::{Observation, ObservedSignal, Observer, Runs, SignalOutcome};
pub use run_loop::{EndReason, IterationReport, RunEvent, RunReport, RunRequest};
pub use transcripts::{
    ImportScope, TranscriptOutcome, TranscriptReport, TranscriptStart, Transcripts,
    TranscriptsReport, TranscriptsRequest,
};

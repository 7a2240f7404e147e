//! Lessons: knowledge that a session contains and the next one needs, extracted without a model.
//!
//! [`LessonExtractor`] reads the events of a conversation one at a time and keeps a bounded state, which can be stored
//! between two turns. [`LessonExtractor::lessons`] returns the candidates of all sources, each with its evidence, its
//! worth, and a verdict: kept or dropped, with the reason. The crate does no I/O; its input is redacted already.

mod candidate;
mod cues;
mod extractor;
mod selection;
mod sentences;
mod sources;

pub use candidate::{
    Candidate, DropReason, Evidence, Lesson, LessonContent, SourceKind, Speaker, Verdict,
};
pub use extractor::LessonExtractor;

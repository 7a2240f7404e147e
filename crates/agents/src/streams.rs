//! Event streams of agent programs: plain text, or one JSON event a line.
//!
//! [`StreamReader`] takes bytes in chunks cut anywhere and emits [`StreamPiece`]s: plain output unchanged, and the
//! JSON events of the programs in [`crate::AgentProgram`]. Unknown events, records and fields are ignored; an unreadable
//! line is reported and never ends the stream.

pub(crate) mod dialect;
pub(crate) mod format_detection;
mod json_lines;
pub(crate) mod repeat_detector;
mod stream_reader;
pub(crate) mod tool_events;

pub use stream_reader::{StreamPiece, StreamReader};

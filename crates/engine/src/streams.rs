//! The output streams of agent programs: plain text, or one JSON event a line.
//!
//! [`StreamReader`] takes the bytes as they come, in chunks cut anywhere, and gives [`Piece`]s: plain
//! output as it is, and what the JSON events of Claude Code, Codex and Gemini CLI say. Unknown events,
//! records and fields are ignored; a line that cannot be read is told and never ends the stream.

mod claude;
mod codex;
mod detect;
mod dialect;
mod gemini;
mod json;
mod lines;
mod reader;

pub use reader::{Piece, StreamReader};

//! Agent programs: command lines, output streams, signals, hooks, transcripts, settings, failures and child processes.
//!
//! [`AgentProgram`] is the table of programs. Each has a folder with its own formats; the other modules are the parts
//! that all programs share.

mod aider;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod heirloom_program;
mod opencode;
mod patch_marks;

pub mod adapters;
pub mod failures;
pub mod hooks;
pub mod host_text;
mod json_fields;
pub mod process;
mod program;
mod program_folder;
pub mod settings;
pub mod signals;
mod stream_format;
pub mod streams;
pub mod transcripts;
mod unknown_program;
mod vscode;
mod windsurf;

pub use program::AgentProgram;
pub use program_folder::ProgramFolder;
pub use stream_format::StreamFormat;

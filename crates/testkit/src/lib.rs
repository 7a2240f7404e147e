//! Test support for Heirloom: tests need neither a network nor a real model.
//!
//! - [`ModelService`] is a model on loopback that follows a [`Script`]. It
//!   speaks the four wire formats that the agent programs speak, streaming and
//!   whole, with tool calls and with faults.
//! - [`EmbeddingService`] computes vectors with the protocol of OpenAI, and
//!   injects faults.
//! - [`ScriptedAgent`] is a small real program for tests of the run loop.
//! - [`TempProject`] is a project folder that disappears after the test.
//! - [`sh`] splits a command line into its arguments.
//! - [`malformed_requests`] are lines of JSON-RPC as careless clients write them.
//! - [`require!`] skips a test whose [`Prerequisite`] is missing, and reports it.
//!
//! Everything is started from synchronous code and stops when dropped.

#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are thrown away: a half-written one fails its own test"
)]

mod embeddings;
mod json_schema;
mod malformed_request;
mod model_script;
mod prerequisite;
mod project;
mod request;
mod scripted_agent;
pub mod secrets;
mod service;
mod shell_words;
mod wire;

pub use embeddings::{EmbeddingFault, EmbeddingService, EmbeddingsRequest};
pub use json_schema::SchemaSet;
pub use malformed_request::{MalformedRequest, malformed_requests};
pub use model_script::{EXHAUSTED_TEXT, Reply, SIDE_TEXT, Script, ScriptedToolCall, Turn};
pub use prerequisite::{Prerequisite, REQUIRE_ALL_VARIABLE, SKIPPED_FILE_VARIABLE, test_name};
pub use project::TempProject;
pub use request::{Api, RecordedRequest};
pub use scripted_agent::ScriptedAgent;
pub use service::ModelService;
pub use shell_words::sh;

/// Returns true for an environment variable that would change what the program does: its own settings, and those that
/// agent programs set in the shells of their agents.
pub fn is_setting_of_machine(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    let agents = [
        "CLAUDECODE",
        "GEMINI_CLI",
        "OPENCODE",
        "COPILOT_CLI",
        "CURSOR_AGENT",
        "AI_AGENT",
    ];
    name.starts_with("HEIRLOOM_") || name.starts_with("CODEX_") || agents.contains(&&*name)
}

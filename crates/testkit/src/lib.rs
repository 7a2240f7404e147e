//! Test support for Heirloom: no test of ours needs a network or a real model.
//!
//! - [`ModelService`] is a model on loopback that follows a [`Script`]. It
//!   speaks the four wire formats that the agent programs speak, streaming and
//!   whole, with tool calls and with faults.
//! - [`EmbeddingService`] makes vectors, in the protocol of OpenAI, and goes
//!   wrong on purpose.
//! - [`ScriptedAgent`] is a small real program for tests of the run loop.
//! - [`TempProject`] is a project folder that disappears after the test.
//!
//! Everything is started from synchronous code and stops when dropped.

#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are thrown away: a half-written one fails its own test"
)]

mod agent;
mod embeddings;
mod project;
mod request;
mod script;
mod service;
mod wire;

pub use agent::ScriptedAgent;
pub use embeddings::{EmbeddingService, EmbeddingsRequest, Trouble};
pub use project::TempProject;
pub use request::{Api, RecordedRequest};
pub use script::{EXHAUSTED_TEXT, Reply, SIDE_TEXT, Script, ToolCall, Turn};
pub use service::ModelService;

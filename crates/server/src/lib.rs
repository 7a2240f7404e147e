//! What serves many clients at once: the HTTP API, the page where memory is seen and corrected, and MCP.
//!
//! All of it is a skin over [`heirloom_engine::Engine`], which knows no runtime: every call of it runs in one bounded
//! pool of threads that may wait ([`Pool`]), never on a thread that answers connections.

mod access;
mod again;
mod api;
mod app;
mod chores;
mod events;
mod held;
mod listening;
pub mod mcp;
mod memories;
mod metrics;
mod page;
mod pool;
mod problem;
mod tags;

pub use access::{Access, Names};
pub use app::{App, Options, Setting, router};
pub use listening::{Certificate, Listening, serve};
pub use memories::{Memories, Projects};
pub use pool::Pool;
pub use problem::Problem;

//! Server for many clients: the HTTP API, the web page, and MCP.
//!
//! These surfaces call [`heirloom_engine::Engine`], which is synchronous. Every call runs in one bounded pool of
//! threads ([`Pool`]), so the async runtime never blocks.

mod access;
mod api;
mod app;
mod background_jobs;
mod engine_registry;
mod etag;
mod event_feed;
mod file_watcher;
mod idempotency;
mod listener;
pub mod mcp;
mod metrics;
mod page;
mod pool;
mod problem;
mod review_cache;
mod router;
mod working_memory_cache;

pub use access::{Access, AllowedOrigins};
pub use app::{App, DisplayedSetting, ServerOptions};
pub use engine_registry::{EngineProvider, EngineRegistry};
pub use listener::{Certificate, Listener, serve};
pub use pool::Pool;
pub use problem::Problem;
pub use router::router;

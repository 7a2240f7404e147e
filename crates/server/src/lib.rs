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
mod health_cache;
mod idempotency;
mod listener;
mod local_setup;
pub mod mcp;
mod metrics;
mod page;
mod pool;
mod problem;
mod records_by_id;
mod review_cache;
mod router;
mod setting_changes;
mod unknown_fields;
mod working_memory_cache;

pub use access::{Access, AllowedOrigins};
pub use app::{App, ServerOptions};
pub use engine_registry::{EngineProvider, EngineRegistry};
pub use listener::{Certificate, Listener, serve};
pub use local_setup::{
    AgentSetup, HookSetup, HookSetupReport, HookState, LocalSetup, Setting, SettingChange,
    SettingEffect, SettingField, SettingLayer,
};
pub use pool::Pool;
pub use problem::Problem;
pub use router::router;

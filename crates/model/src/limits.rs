//! Limits: every cap of Heirloom, in one folder with a file for each area.
//!
//! Beyond a cap the caller gets a diagnostic or an error that names the cap; nothing is cut silently.

mod access;
mod agent_output;
mod backups;
mod contexts;
mod custom_commands;
mod directives;
mod doctor;
mod embedding;
mod file_watching;
mod files;
mod groups;
mod hooks;
mod language_models;
mod lessons;
mod mcp;
mod mirror;
mod outputs;
mod recall;
mod records;
mod redaction;
mod retention;
mod run_loop;
mod server;
mod store;
mod transcripts;
mod windows;
mod workspaces;

pub use access::*;
pub use agent_output::*;
pub use backups::*;
pub use contexts::*;
pub use custom_commands::*;
pub use directives::*;
pub use doctor::*;
pub use embedding::*;
pub use file_watching::*;
pub use files::*;
pub use groups::*;
pub use hooks::*;
pub use language_models::*;
pub use lessons::*;
pub use mcp::*;
pub use mirror::*;
pub use outputs::*;
pub use recall::*;
pub use records::*;
pub use redaction::*;
pub use retention::*;
pub use run_loop::*;
pub use server::*;
pub use store::*;
pub use transcripts::*;
pub use windows::*;
pub use workspaces::*;

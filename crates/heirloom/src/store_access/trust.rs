//! Trust: what did not come from this installation is used only after a person has said so.
//!
//! One rule for the memory of a clone, the standing text and shared files in it, and its custom commands.

mod commands;
mod files;
mod marks;
mod memory;

pub(crate) use commands::{distrust, is_trusted, trust};
pub(crate) use files::ProjectFileTrust;
pub(crate) use marks::Marks;
pub(crate) use memory::{MemoryOrigin, MemoryTrust};

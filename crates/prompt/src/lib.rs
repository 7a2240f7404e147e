//! Prompt assembly: contexts within a budget, directives of an invocation, and custom commands.

pub mod context;
pub mod custom_commands;
pub mod directives;

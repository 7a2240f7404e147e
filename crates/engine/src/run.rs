//! The loop of iterations of an agent command.

pub mod child;
pub mod git;

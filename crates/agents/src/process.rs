//! Child processes of a run, and the state of its git repository.

pub mod child_process;
pub mod git_state;

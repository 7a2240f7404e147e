//! The output streams of agent programs.

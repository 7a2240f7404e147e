//! The engine of Heirloom: the rooms, and the [`Engine`](engine) that composes them over a store.
//!
//! The library never talks to the user: it reads no environment, no home directory and no terminal.

pub mod adapters;
pub mod agentium;
pub mod context;
pub mod mirror;
pub mod run;
pub mod signals;
pub mod streams;

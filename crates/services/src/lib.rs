//! Clients of the services that somebody may tell Heirloom to ask.
//!
//! The one place that talks to a network. It sends texts to the configured address and nowhere else: redirects
//! are not followed, and no environment variable is read.

pub mod embeddings;
mod http;
pub mod writer;

pub use http::Key;

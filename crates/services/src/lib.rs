//! Clients of optional external services: embeddings and language models.
//!
//! The one place that talks to a network. It sends texts to the configured address and nowhere else: redirects
//! are not followed, and no environment variable is read.

pub mod embeddings;
mod http_client;
pub mod language_model;
mod retry_backoff;

pub use http_client::Key;

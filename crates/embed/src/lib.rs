//! Vectors from a service that speaks the embeddings protocol of OpenAI: `POST {url}/embeddings`.
//!
//! The one place that talks to a network. It sends texts to the configured address and nowhere else: redirects
//! are not followed, and no environment variable is read.

mod answer;
mod service;

pub use service::{Key, Service, ServiceConfig};

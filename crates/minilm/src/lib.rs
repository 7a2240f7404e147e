//! Vectors from a sentence model of the MiniLM sort (BERT with mean or first-token pooling) in a local folder.
//!
//! Everything is behind the feature `minilm`: the program that is shipped has none of it.

#[cfg(feature = "minilm")]
mod files;
#[cfg(feature = "minilm")]
mod folder;
#[cfg(feature = "minilm")]
mod model;

#[cfg(feature = "minilm")]
pub use folder::Folder;

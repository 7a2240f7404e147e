//! Embeddings of a local sentence model of the MiniLM family (BERT with mean or first-token pooling).
//!
//! Everything is behind the feature `minilm`; the released program does not include it.

#[cfg(feature = "minilm")]
mod folder_embedder;
#[cfg(feature = "minilm")]
mod model;
#[cfg(feature = "minilm")]
mod model_files;

#[cfg(feature = "minilm")]
pub use folder_embedder::FolderEmbedder;

//! Sentence transformer (all-MiniLM-L6-v2) with int8 weights that are read in place.
//!
//! [`Transformer`] is the weights, [`Encoder`] computes vectors of texts with buffers that it reuses. The kernels use
//! `fearless_simd`: the integer part gives the same numbers on every processor, the rest differs in the last bits.

mod activations;
mod approximation;
mod attention;
mod embedding;
mod encoder;
mod forward_pass;
mod interruption;
mod layer_norm;
mod matmul;
mod passages;
mod sentence_embedder;
mod transformer;
mod vector;
mod weight_file;

pub use encoder::Encoder;
pub use interruption::Interrupted;
pub use passages::{PASSAGE_PIECES, PassageLimits};
pub use sentence_embedder::SentenceEmbedder;
pub use transformer::Transformer;
pub use vector::{DIMS, TokenVectors, Vector384};
pub use weight_file::WeightFileError;

//! What makes vectors of texts, where the built-in table is not what somebody wants.

use crate::Fault;

/// What vectors are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A question that somebody waits for: one try, within a short time.
    Question,
    /// Texts that are kept: patient, with tries.
    Texts,
}

/// A model that makes vectors of texts. Slow and fallible: whatever writes or hooks does never waits for it.
pub trait Embedder: Send + Sync {
    /// The name of the model: only vectors under one name are compared with each other.
    fn model(&self) -> &str;

    /// One vector for each text, in their order, all of the same length; their scale does not matter.
    ///
    /// Errors say what the model, or whoever runs it, answered, without secrets.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, Fault>;
}

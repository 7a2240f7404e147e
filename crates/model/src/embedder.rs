//! Interface of embedding models other than the built-in table.

use crate::Fault;

/// Purpose of an embedding request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedPurpose {
    /// A query on the critical path: one attempt within a short timeout.
    Query,
    /// Documents to index: several attempts with back-off.
    Documents,
}

/// A model that turns texts into vectors. Calls are slow and may fail; writes and hooks never wait for them.
pub trait Embedder: Send + Sync {
    /// Returns the model's name. Only vectors with the same name are compared.
    fn model(&self) -> &str;

    /// Computes one vector per text, in order and all of the same length. Their scale is irrelevant.
    ///
    /// Errors contain the answer of the model or service, without secrets.
    fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault>;
}

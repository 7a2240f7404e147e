//! Models of the vectors that are stored in addition to the built-in ones.

use heirloom_model::Embedder;
use std::sync::Arc;

/// Embedding models of an engine. A project has vectors of one model: an external one takes the place of the sentence
/// transformer.
#[derive(Clone, Default)]
pub(super) struct VectorModels {
    /// Model of a service that the settings name.
    pub(super) external: Option<Arc<dyn Embedder>>,
    /// Sentence transformer of the program.
    pub(super) sentence: Option<Arc<dyn Embedder>>,
}

impl VectorModels {
    /// Returns these models without the external one.
    pub(super) fn without_external(&self) -> Self {
        Self {
            external: None,
            sentence: self.sentence.clone(),
        }
    }

    /// Returns the sentence transformer unless an external model takes its place.
    pub(super) fn sentence_transformer(&self) -> Option<&Arc<dyn Embedder>> {
        match self.external {
            Some(_) => None,
            None => self.sentence.as_ref(),
        }
    }

    /// Returns the model whose vectors are stored.
    pub(super) fn stored(&self) -> Option<&dyn Embedder> {
        self.external.as_deref().or(self.sentence.as_deref())
    }
}

//! Vectors of external embedding models. They are stored in addition to the built-in vectors, which every text has.

use crate::Lane;

/// Vector and the name of the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelVector {
    /// Name of the model.
    pub model: String,
    /// Components of the vector; its magnitude is ignored.
    pub numbers: Vec<f32>,
}

/// Number of texts of a project without a vector of one model, and some of these texts. Retired texts need none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddingBacklog {
    /// Number of texts that should have a vector.
    pub texts: u64,
    /// Number of these without one.
    pub missing: u64,
    /// Dimensions of the model's vectors; `None` before the first vector.
    pub dims: Option<usize>,
    /// Name and vector count of another external model. A project has vectors of one external model at a time: the
    /// first vectors of a new model replace all of the previous one.
    pub other: Option<(String, u64)>,
    /// Lane of the texts in `next`.
    pub lane: Lane,
    /// Number of rebuilds of the index of that lane. A [`VectorBatch`] is valid for one generation.
    pub generation: i64,
    /// Some of the texts without a vector, newest first.
    pub next: Vec<UnembeddedText>,
}

/// Text without a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedText {
    /// Ordinal of the text in its lane.
    pub ordinal: u32,
    /// First part of the indexed text, at most `EMBEDDING_TEXT_BYTES_MAX` bytes.
    pub text: String,
}

/// Ordinal and vector; `None` for a text that cannot be embedded.
pub type VectorRow = (u32, Option<Vec<f32>>);

/// Vectors to store.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorBatch {
    /// Name of the model that made them.
    pub model: String,
    /// Lane that the ordinals belong to.
    pub lane: Lane,
    /// Index generation that the ordinals belong to.
    pub generation: i64,
    /// Rows, one for each text; without any, the vectors of other models are removed in both lanes.
    pub rows: Vec<VectorRow>,
}

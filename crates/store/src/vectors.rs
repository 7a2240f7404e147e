//! Vectors of other models than the built-in one, beside its own, which every text has.

/// A vector under the name of the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelVector {
    /// The model.
    pub model: String,
    /// The vector; its length does not matter.
    pub numbers: Vec<f32>,
}

/// What lacks a vector of one model in a project. What is retired lacks none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unembedded {
    /// Texts that should have one.
    pub texts: u64,
    /// Those that have none yet.
    pub missing: u64,
    /// Numbers of the model's vectors; `None` while there is none.
    pub dims: Option<usize>,
    /// Another model of which vectors are there, and how many. A project has vectors of one model beside the
    /// built-in ones: the first of the next model take the place of all of them.
    pub other: Option<(String, u64)>,
    /// How often the project's index was built anew: [`NewVectors`] belong to one building.
    pub generation: i64,
    /// Some of those that lack one, oldest first.
    pub next: Vec<UnembeddedText>,
}

/// One text that lacks a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedText {
    /// Its place in the index.
    pub ordinal: u32,
    /// The beginning of what the index has of it: at most `EMBEDDING_TEXT_BYTES_MAX` bytes.
    pub text: String,
}

/// An ordinal and its vector; `None` for a text that can have none.
pub type VectorRow = (u32, Option<Vec<f32>>);

/// Vectors to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVectors {
    /// The model that made them.
    pub model: String,
    /// The building of the index that the ordinals belong to.
    pub generation: i64,
    /// Each of one text.
    pub rows: Vec<VectorRow>,
}

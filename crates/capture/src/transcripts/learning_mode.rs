//! Mode of learning from a transcript.

/// Use of the extractor's state after an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LearningMode {
    /// The conversation goes on: the state is stored, and the lessons belong to the batch of the session.
    Live,
    /// The conversation ended: the state is dropped, and the lessons belong to the batch of the session.
    SessionEnd,
    /// A file is imported: the state is dropped, and the lessons belong to the batch of the import.
    Import,
}

//! Candidate of a search.

use heirloom_model::RecordId;

/// One search result with the parts of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Id of the record or the message.
    pub id: RecordId,
    /// BM25 score of the words, head included; 0 without a match.
    pub lexical: f32,
    /// Cosine similarity of the vectors; 0 without a vector.
    pub vector: f32,
    /// Cosine similarity of the sentence transformer's vectors; `None` if the question or the text has none.
    pub sentence: Option<f32>,
    /// Weighted sum of `z(lexical)`, `z(vector)` and `z(sentence)` over all items of the lane, plus
    /// `conversation`.
    pub score: f32,
    /// Part of `score` from the words: `z(lexical)`. Negative for a text with fewer words of the query than most.
    pub word_score: f32,
    /// Bonus from neighbouring turns of the same conversation; 0 for a record.
    pub conversation: f32,
}

//! The search in a store's index: what is asked, and what is found.

use crate::{Filter, ModelVector};
use heirloom_index::words::Question;
use heirloom_model::RecordId;

/// What is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// By these words; none leaves this arm out.
    pub words: Option<Question>,
    /// By the meaning of this text; none leaves this arm out.
    pub meaning: Option<String>,
    /// By this vector of another model instead, if nearly every text has one of it.
    pub vector: Option<ModelVector>,
    /// Among what this asks for; its `order`, `limit` and `after` do not matter. Turns of conversations are
    /// found too, unless kinds, a category, a state or a key is asked for.
    pub filter: Filter,
    /// So many of the best of each arm.
    pub each: usize,
}

/// What one search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// How many items there are in the scope; scores are relative to all of them.
    pub searched: u64,
    /// Which vectors ranked: all of one model, whatever others there are.
    pub vectors: VectorsOf,
    /// How many texts, of those that should, have no vector of the model that was asked for. Where its vectors
    /// ranked they counted by their words alone.
    pub unembedded: u64,
    /// In how many texts each of the question's terms is, in their order; retired ones count.
    pub dfs: Vec<u64>,
    /// The candidates of every arm, best first by `score`, on a tie older first.
    pub hits: Vec<Hit>,
}

/// The vectors that a search went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorsOf {
    /// None: words only.
    #[default]
    Nothing,
    /// The built-in table.
    BuiltIn,
    /// The model that was asked for.
    Model,
}

/// One candidate with its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The record, or the message.
    pub id: RecordId,
    /// Whether it is a message: a turn of a conversation.
    pub is_turn: bool,
    /// The score of its words (BM25, head included); 0 without a hit.
    pub lexical: f32,
    /// The cosine of its vector; 0 without one.
    pub vector: f32,
    /// `z(lexical) + 1.5 z(vector)` over everything in the scope, and for a turn what its conversation adds.
    pub score: f32,
    /// The part of `score` that a turn's conversation adds.
    pub conversation: f32,
}

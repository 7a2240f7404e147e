//! Search in a store's index: query and results.

use crate::{Filter, ModelVector};
use heirloom_search::Hit;
use heirloom_search::index::tokenizer::QueryTerms;

/// Query for [`crate::Store::search`].
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    /// Terms for lexical search; `None` skips it.
    pub words: Option<QueryTerms>,
    /// Text for vector search with the built-in model; `None` skips it.
    pub semantic_text: Option<String>,
    /// Query vector of an external model. It is used instead of `semantic_text` if nearly every text has a vector of
    /// that model.
    pub vector: Option<ModelVector>,
    /// Query vector of the sentence transformer. Its scores are added to those of the other arms; a text without a
    /// vector of this model is ranked by the others.
    pub sentence_vector: Option<ModelVector>,
    /// Filter for the candidates; its `order`, `limit` and `after` are ignored. Turns of conversations match too,
    /// unless the filter names kinds, a category, a state or a key.
    pub filter: Filter,
    /// Number of best hits to keep from each arm (lexical, vector).
    pub limit_per_arm: usize,
    /// Leaves out turns of conversations after the limits. A filter by kind leaves them out before the limits, but reads
    /// the rows of all matching records in a process without a cache.
    pub drops_turns: bool,
}

/// Results of one search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// Number of items that match the filter; scores are relative to all of them.
    pub scope_size: u64,
    /// Source of the vectors that ranked. All are from one model.
    pub vectors: VectorSource,
    /// Number of texts without a vector of the requested external model, of those that should have one. If its
    /// vectors ranked, these texts were ranked by words alone.
    pub unembedded: u64,
    /// Document frequency of each query term, in query order; includes retired texts.
    pub dfs: Vec<u64>,
    /// Candidates of both arms, best `score` first; ties in order of age, oldest first.
    pub hits: Vec<Hit>,
}

/// Source of the vectors that a search ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorSource {
    /// No vectors: the search was lexical only.
    #[default]
    Nothing,
    /// The built-in static embedding table.
    BuiltIn,
    /// The external model of the query.
    Model,
}

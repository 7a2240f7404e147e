//! Search in a store's index: query and results.

use crate::{Filter, Lane, ModelVector};
use heirloom_model::{EmbedPurpose, Embedder, Record};
use heirloom_search::Hit;
use heirloom_search::index::tokenizer::QueryTerms;
use std::fmt;
use std::sync::Arc;

/// Query for [`crate::Store::search`].
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// Terms for lexical search; `None` skips it.
    pub words: Option<QueryTerms>,
    /// Text for vector search with the built-in model; `None` skips it.
    pub semantic_text: Option<String>,
    /// Query vector of an external model. It is used instead of `semantic_text` if nearly every text has a vector of
    /// that model.
    pub vector: Option<ModelVector>,
    /// Question for the sentence transformer. Its scores are added to those of the other arms; a text without a vector
    /// of this model is ranked by the others.
    pub sentence: Option<SentenceQuestion>,
    /// Lane that is searched. All scores and counts of the results are relative to it.
    pub lane: Lane,
    /// Filter for the candidates; its `order`, `limit` and `after` are ignored. No turn of a conversation matches a filter
    /// that names kinds, a category, a state or a key.
    pub filter: Filter,
    /// Number of best hits to keep from each arm (lexical, vector).
    pub limit_per_arm: usize,
    /// Filters by key, whose records are read with the search, because each further query is a round trip to a server.
    pub key_filters: Vec<Filter>,
}

/// Question whose vector is computed during the search, if the project has vectors of the model.
#[derive(Clone)]
pub struct SentenceQuestion {
    /// Text of the question.
    pub text: String,
    /// Model that computes the vector.
    pub model: Arc<dyn Embedder>,
}

impl SentenceQuestion {
    /// Returns the number of words. Scripts without blanks write a sentence as one word, which counts as several.
    pub(crate) fn word_count(&self) -> usize {
        let words = self.text.split_whitespace();
        words.map(|word| if word.is_ascii() { 1 } else { 3 }).sum()
    }

    /// Computes the vector. A failure of the model gives an empty one, so the other arms rank.
    pub(crate) fn compute_vector(&self) -> Vec<f32> {
        let vectors = self.model.embed(&[&self.text], EmbedPurpose::Query);
        let first = vectors.ok().and_then(|vectors| vectors.into_iter().next());
        first.unwrap_or_default()
    }
}

impl fmt::Debug for SentenceQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentenceQuestion")
            .field("text", &self.text)
            .field("model", &self.model.model())
            .finish()
    }
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
    /// Records that match the filters by key, in their order.
    pub key_matches: Vec<Record>,
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

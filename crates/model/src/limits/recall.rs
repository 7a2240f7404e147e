//! Limits of recall.

/// Maximum number of distinct stems of a query; further ones are ignored.
pub const QUESTION_TERMS_MAX: usize = 10_000;
/// Longest query of a recall, bytes.
pub const RECALL_QUERY_BYTES_MAX: usize = 2 << 20;
/// Default number of hits of a recall.
pub const RECALL_HITS_DEFAULT: usize = 10;
/// Conversations in an answer, each with its best turn, unless more are requested.
pub const RECALL_CONVERSATIONS: usize = 3;
/// Maximum number of hits of a recall.
pub const RECALL_HITS_MAX: usize = 1_000;
/// Minimum number of ranked candidates. Beyond three per hit of the default ten, results change in less than one
/// query of a hundred.
pub const RECALL_CANDIDATES_MIN: usize = 50;
/// Number of records with words of a short query that are searched for the query word for word.
pub const RECALL_VERBATIM_CANDIDATES: usize = 400;
/// Number of hits that are considered when another criterion than their count selects the results.
pub const RECALL_POOL_HITS: usize = 40;
/// Largest budget of a recall, tokens.
pub const RECALL_BUDGET_TOKENS_MAX: usize = 1_000_000;
/// Maximum number of filter values, phrases and dates of one query; further ones are treated as words.
pub const RECALL_PARTS_MAX: usize = 100;
/// Number of words of a candidate that proximity scoring considers.
pub const RECALL_PAIR_WORDS_MAX: usize = 4_096;
/// Maximum number of keys that one query is looked up by.
pub const RECALL_KEYS_MAX: usize = 4;
/// Maximum of the usefulness count, either way.
pub const USEFUL_MAX: i64 = 5;
/// Maximum number of resolved errors that a new error is compared with.
pub const ERRORS_COMPARED_MAX: usize = 1_000;

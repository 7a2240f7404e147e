//! Limits of recall, relevance, built-in vectors, and review.

/// Maximum number of distinct stems of a query; further ones are ignored.
pub const QUESTION_TERMS_MAX: usize = 10_000;
/// Number of leading word pieces of a text that its vector is computed from.
pub const VECTOR_PIECES_MAX: usize = 192;
/// Number of leading word pieces of the first line that count twice.
pub const VECTOR_HEAD_PIECES_MAX: usize = 64;
/// Number of word pieces of a query that its vector is computed from.
pub const QUESTION_PIECES_MAX: usize = 512;
/// Longest query of a recall, bytes.
pub const RECALL_QUERY_BYTES_MAX: usize = 2 << 20;
/// Default number of hits of a recall.
pub const RECALL_HITS_DEFAULT: usize = 10;
/// Maximum number of hits of a recall.
pub const RECALL_HITS_MAX: usize = 1_000;
/// Minimum number of ranked candidates. Beyond three per hit of the default ten, results change in less than one
/// query of a hundred.
pub const RECALL_CANDIDATES_MIN: usize = 30;
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
/// Maximum number of strong hits of one query whose identifiers are looked up.
pub const HOP_STRONG_HITS_MAX: usize = 3;
/// Maximum number of identifiers of one strong hit that are looked up; further ones are ignored.
pub const HOP_IDENTIFIERS_MAX: usize = 4;
/// Longest identifier that is looked up, bytes; longer words are ignored.
pub const HOP_IDENTIFIER_BYTES_MAX: usize = 200;
/// Maximum number of texts with the rarest word of an identifier; a more frequent one is too common to connect records.
pub const HOP_TEXTS_MAX: u64 = 4;
/// Number of search hits by the rare words of all identifiers that are considered.
pub const HOP_CANDIDATES: usize = 64;
/// Maximum number of records that identifiers add to the hits of one query, or raise among them.
pub const HOP_RECORDS_MAX: usize = 3;
/// Maximum number of word pieces of a question whose similarity to those of a record is computed.
pub const RELEVANCE_QUESTION_PIECES_MAX: usize = 160;
/// Maximum number of word pieces of a record that are compared.
pub const RELEVANCE_RECORD_PIECES_MAX: usize = 96;
/// Maximum of the usefulness count, either way.
pub const USEFUL_MAX: i64 = 5;
/// Maximum number of resolved errors that a new error is compared with.
pub const ERRORS_COMPARED_MAX: usize = 1_000;
/// Maximum number of records that a review compares.
pub const REVIEW_RECORDS_MAX: usize = 20_000;

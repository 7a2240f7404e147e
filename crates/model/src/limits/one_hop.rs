//! Limits of one hop of recall: records that share an identifier with a strong hit.

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

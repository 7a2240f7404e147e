//! Text index as pure data: terms and vectors of texts, packed postings, and scoring of queries.

pub mod bm25;
pub mod posting_blocks;
pub mod posting_code;
pub mod tokenizer;
pub mod vector;
pub mod word_pieces;

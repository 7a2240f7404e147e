//! Words and vectors as pure data: what a text is made of, how postings are packed, how a question is scored.
//!
//! Nothing here knows a database: the store keeps the bytes, this crate says what they mean.

pub mod block;
pub mod code;
pub mod pieces;
pub mod score;
pub mod vector;
pub mod words;

//! Search index of a project in ordinary SQL tables, updated in the transaction that writes a text.
//!
//! Each text gets the next ordinal and a row in the tail; a full tail is merged into blocks. So a write pays for one
//! row and occasionally for a merge. Search results do not depend on what is merged.

mod arm_fusion;
mod background_work;
mod candidate_filter;
mod conversation_scores;
mod external_vectors;
mod index_check;
mod index_entry;
mod index_state;
mod lexical_search;
mod ordinals;
mod project_cache;
mod rebuild;
mod search;
mod sentence_search;
mod settled_questions;
mod tail;
mod tail_merge;
#[cfg(test)]
mod tests;
mod vector_blocks;
mod vector_rows;
mod vector_search;
mod vector_sidecar;
mod writer;

pub(crate) use external_vectors::{embedding_backlog, model_vectors, store_vectors};
pub(crate) use index_check::check;
pub(crate) use index_entry::IndexEntry;
pub(crate) use project_cache::{ContentStamp, ProjectCache};
pub(crate) use rebuild::{catch_up, rebuild, rebuild_all, remove};
pub(crate) use search::search;
pub(crate) use vector_sidecar::remove_all as remove_sidecars;
pub(crate) use writer::{
    add, mark_retired, merge_if_due, merge_next_part, read_retired_blocks, write_totals,
};

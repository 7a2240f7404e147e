//! Views of the review page and of the page of pinned and muted records.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Review page.
#[derive(Template)]
#[template(path = "review.html")]
pub(crate) struct ReviewView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// Number of records to compare, if the review was not requested yet.
    pub(crate) to_look: String,
    pub(crate) parts: Vec<(&'static str, &'static str, usize)>,
    /// Proposals that sessions taught and no person has reviewed.
    pub(crate) learned: Vec<ReviewRow>,
    pub(crate) pairs: Vec<DuplicatePair>,
    pub(crate) more_pairs: usize,
    pub(crate) stale: Vec<ReviewRow>,
    pub(crate) unused: Vec<ReviewRow>,
}

/// Two near-duplicate records.
pub(crate) struct DuplicatePair {
    pub(crate) older: String,
    pub(crate) newer: String,
    pub(crate) older_name: String,
    pub(crate) newer_name: String,
    pub(crate) alike: String,
    pub(crate) diff: Html,
    pub(crate) older_meta: String,
    pub(crate) newer_meta: String,
}

/// Record to review.
pub(crate) struct ReviewRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) words: Html,
    pub(crate) why: Html,
    pub(crate) meta: String,
}

/// Pinned and muted records.
#[derive(Template)]
#[template(path = "marks.html")]
pub(crate) struct MarksView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) pinned: Vec<ReviewRow>,
    pub(crate) muted: Vec<ReviewRow>,
    pub(crate) is_whole: bool,
}

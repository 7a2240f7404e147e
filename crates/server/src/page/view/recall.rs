//! View of the recall page.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Recall page.
#[derive(Template)]
#[template(path = "recall.html")]
pub(crate) struct RecallView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) question: String,
    pub(crate) reads_as: String,
    pub(crate) chips: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
    pub(crate) legend: Vec<(usize, &'static str)>,
    pub(crate) hits: Vec<HitRow>,
    pub(crate) more: String,
    /// Text and address of the link to the hits below the floor.
    pub(crate) weak: Option<(String, String)>,
    /// True without a query.
    pub(crate) is_blank: bool,
    pub(crate) suggestions: Vec<(String, String)>,
}

/// Search hit.
pub(crate) struct HitRow {
    pub(crate) id: String,
    pub(crate) rank: usize,
    pub(crate) kind: &'static str,
    pub(crate) key: String,
    pub(crate) href: String,
    pub(crate) meta: Vec<String>,
    pub(crate) is_pinned: bool,
    pub(crate) words: Html,
    pub(crate) why: String,
    pub(crate) parts: Vec<ScorePart>,
    /// Relevance as a percentage; empty for a query of filters.
    pub(crate) relevance: String,
    /// Grade of the relevance.
    pub(crate) grade: &'static str,
    pub(crate) bar: Html,
    pub(crate) folded: String,
    pub(crate) is_record: bool,
    pub(crate) is_useful: bool,
    pub(crate) is_open: bool,
}

/// Part of a score.
pub(crate) struct ScorePart {
    pub(crate) series: usize,
    pub(crate) name: &'static str,
    pub(crate) raw: String,
    pub(crate) adds: String,
}

//! What the page of recall shows.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// An answer, hit by hit.
#[derive(Template)]
#[template(path = "recall.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) question: String,
    pub(crate) reads_as: String,
    pub(crate) chips: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
    pub(crate) legend: Vec<(usize, &'static str)>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) more: String,
    /// Nothing was asked yet.
    pub(crate) is_blank: bool,
    pub(crate) suggestions: Vec<(String, String)>,
}

/// One answer.
pub(crate) struct Hit {
    pub(crate) id: String,
    pub(crate) rank: usize,
    pub(crate) kind: &'static str,
    pub(crate) key: String,
    pub(crate) href: String,
    pub(crate) meta: Vec<String>,
    pub(crate) is_pinned: bool,
    pub(crate) words: Html,
    pub(crate) why: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) score: String,
    pub(crate) bar: Html,
    pub(crate) folded: String,
    pub(crate) is_record: bool,
    pub(crate) is_useful: bool,
    pub(crate) is_open: bool,
}

/// One part of a score.
pub(crate) struct Part {
    pub(crate) series: usize,
    pub(crate) name: &'static str,
    pub(crate) raw: String,
    pub(crate) adds: String,
}

//! View of the page of pinned and muted records.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Pinned or muted record.
pub(crate) struct MarkedRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) words: Html,
    pub(crate) meta: String,
}

/// Pinned and muted records.
#[derive(Template)]
#[template(path = "marks.html")]
pub(crate) struct MarksView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) pinned: Vec<MarkedRow>,
    pub(crate) muted: Vec<MarkedRow>,
    pub(crate) is_whole: bool,
}

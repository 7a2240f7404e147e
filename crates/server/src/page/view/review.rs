//! What the pages of review, and of pins and mutes, show.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// What wants a second look.
#[derive(Template)]
#[template(path = "review.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// So many records would have to be looked through; nobody asked for it yet.
    pub(crate) to_look: String,
    pub(crate) parts: Vec<(&'static str, &'static str, usize)>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) more_pairs: usize,
    pub(crate) stale: Vec<One>,
    pub(crate) unused: Vec<One>,
}

/// Two records that say nearly the same.
pub(crate) struct Pair {
    pub(crate) older: String,
    pub(crate) newer: String,
    pub(crate) older_name: String,
    pub(crate) newer_name: String,
    pub(crate) alike: String,
    pub(crate) diff: Html,
    pub(crate) older_meta: String,
    pub(crate) newer_meta: String,
}

/// One record to look at.
pub(crate) struct One {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) words: Html,
    pub(crate) why: Html,
    pub(crate) meta: String,
}

/// What people pinned and muted.
#[derive(Template)]
#[template(path = "marks.html")]
pub(crate) struct Marks {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) pinned: Vec<One>,
    pub(crate) muted: Vec<One>,
    pub(crate) is_whole: bool,
}

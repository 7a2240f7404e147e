//! What the overview shows.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// The overview.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    /// Nothing was ever remembered.
    pub(crate) is_empty: bool,
    pub(crate) arcs: Option<Arcs>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) latest: Vec<Happened>,
    pub(crate) tasks: Vec<OpenTask>,
    pub(crate) tasks_all: String,
    pub(crate) records: String,
    pub(crate) kinds: Vec<KindRow>,
}

/// The chart of who learned and who inherited.
pub(crate) struct Arcs {
    pub(crate) svg: Html,
    pub(crate) agents: Vec<String>,
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) rows: Vec<ArcRow>,
}

/// A record of the chart, as a line of its table.
pub(crate) struct ArcRow {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) learned: String,
    pub(crate) sessions: usize,
}

/// Something that needs a person.
pub(crate) struct Waiting {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Something that happened to a record.
pub(crate) struct Happened {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) what: String,
    pub(crate) by: String,
    pub(crate) at: String,
    pub(crate) key: String,
    pub(crate) words: Html,
    pub(crate) href: String,
    /// The record whose last change can be taken back, or nothing.
    pub(crate) undo: String,
}

/// A task that is not done.
pub(crate) struct OpenTask {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// How many records of a kind there are.
pub(crate) struct KindRow {
    pub(crate) kind: &'static str,
    pub(crate) count: String,
    pub(crate) new: String,
    pub(crate) spark: Html,
}

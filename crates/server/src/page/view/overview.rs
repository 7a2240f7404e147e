//! View of the overview.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Overview page.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct OverviewView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    /// True if the store is empty.
    pub(crate) is_empty: bool,
    pub(crate) arcs: Option<ArcChart>,
    pub(crate) waiting: Vec<PendingItem>,
    pub(crate) latest: Vec<EventRow>,
    pub(crate) tasks: Vec<OpenTaskRow>,
    pub(crate) tasks_all: String,
    pub(crate) records: String,
    pub(crate) kinds: Vec<KindRow>,
}

/// Arc chart of records that sessions passed on.
pub(crate) struct ArcChart {
    pub(crate) svg: Html,
    pub(crate) agents: Vec<String>,
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) rows: Vec<ArcRow>,
}

/// Record of the chart, as a table row.
pub(crate) struct ArcRow {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) learned: String,
    pub(crate) sessions: usize,
}

/// Item that needs a decision.
pub(crate) struct PendingItem {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Event of a record.
pub(crate) struct EventRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) what: String,
    pub(crate) by: String,
    pub(crate) at: String,
    pub(crate) key: String,
    pub(crate) words: Html,
    pub(crate) href: String,
    /// Id of the record whose last change can be undone; may be empty.
    pub(crate) undo: String,
}

/// Open task.
pub(crate) struct OpenTaskRow {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Number of records of a kind.
pub(crate) struct KindRow {
    pub(crate) kind: &'static str,
    pub(crate) count: String,
    pub(crate) new: String,
    pub(crate) spark: Html,
}

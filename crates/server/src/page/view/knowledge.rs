//! What the page of knowledge shows.

use super::Html;
use crate::page::{Shell, Toast};
use askama::Template;

/// All knowledge, a page of it.
#[derive(Template)]
#[template(path = "knowledge.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) is_empty: bool,
    pub(crate) conflict: Option<Conflict>,
    pub(crate) categories: Vec<Category>,
    pub(crate) filter: String,
    pub(crate) filter_encoded: String,
    pub(crate) category: String,
    pub(crate) is_new: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) edit: Option<Edit>,
    pub(crate) next: Option<String>,
    pub(crate) drawer: Option<Drawer>,
    /// Where a drawer is closed.
    pub(crate) list: String,
}

/// A choice of the filter.
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) count: String,
    pub(crate) is_current: bool,
}

/// Two texts for one key, and a decision.
pub(crate) struct Conflict {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) place: String,
    pub(crate) next: String,
    pub(crate) until: String,
    pub(crate) sides: Vec<Side>,
}

/// One of them.
pub(crate) struct Side {
    pub(crate) id: String,
    pub(crate) meta: String,
    pub(crate) words: Html,
    pub(crate) key: usize,
}

/// An entry of the list.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) words: Html,
    pub(crate) why: Html,
    pub(crate) meta: Vec<String>,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) is_conflict: bool,
    pub(crate) is_on: bool,
    pub(crate) spark: Html,
    pub(crate) uses: String,
    pub(crate) at: String,
    pub(crate) csrf: String,
}

/// The form that corrects an entry, in its row.
pub(crate) struct Edit {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) categories: Vec<(String, bool)>,
    pub(crate) confidence: String,
    pub(crate) true_from: String,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) csrf: String,
    pub(crate) list: String,
}

/// What became of an entry over time.
pub(crate) struct Drawer {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_current: bool,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) versions: usize,
    pub(crate) csrf: String,
}

/// One thing that happened to it.
pub(crate) struct Step {
    pub(crate) icon: &'static str,
    pub(crate) what: String,
    pub(crate) by: String,
    pub(crate) words: Html,
    /// Whether the words are a comparison.
    pub(crate) is_diff: bool,
    /// The version that can be brought back, or nothing.
    pub(crate) back: String,
}

/// A row after a change, and what was done.
#[derive(Template)]
#[template(path = "knowledge_answer.html")]
pub(crate) struct Answer {
    pub(crate) row: Row,
    pub(crate) toast: Toast,
}

/// What was retired, as one line that stays until the page is left.
#[derive(Template)]
#[template(path = "gone.html")]
pub(crate) struct Gone {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) toast: Toast,
}

/// Only what was done; the page asks for itself anew.
#[derive(Template)]
#[template(path = "toast_only.html")]
pub(crate) struct ToastOnly {
    pub(crate) toast: Toast,
    /// The place of the answer is the toast itself.
    pub(crate) is_target: bool,
}

/// Somebody else saved meanwhile: two texts, one decision.
#[derive(Template)]
#[template(path = "overtaken.html")]
pub(crate) struct Overtaken {
    pub(crate) shell: Shell,
    /// What was corrected.
    pub(crate) name: String,
    /// Where it is decided.
    pub(crate) action: String,
    pub(crate) theirs: Html,
    pub(crate) theirs_meta: String,
    pub(crate) mine: Html,
    /// What the form sends again.
    pub(crate) fields: Vec<(String, String)>,
    /// Where theirs is left as it is.
    pub(crate) list: String,
}

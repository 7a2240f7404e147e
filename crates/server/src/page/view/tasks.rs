//! Views of the pages for tasks and errors.

use super::Html;
use super::filters::FilterLink;
use crate::page::{Shell, Toast};
use askama::Template;

/// List of the newest tasks.
#[derive(Template)]
#[template(path = "tasks.html")]
pub(crate) struct TaskListView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) query: String,
    /// Selected state and agent; may be empty.
    pub(crate) state: String,
    pub(crate) agent: String,
    /// Sentence for a list without rows.
    pub(crate) nothing: String,
    /// Bound of the filters and of the search; empty if none was reached.
    pub(crate) note: String,
    /// True if the project has no task.
    pub(crate) is_empty: bool,
    pub(crate) states: Vec<FilterLink>,
    pub(crate) agents: Vec<FilterLink>,
    pub(crate) rows: Vec<TaskRow>,
    /// Addresses of the first and of the next page; may be empty.
    pub(crate) newest: String,
    pub(crate) next: String,
}

/// Task in the list.
pub(crate) struct TaskRow {
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) meta: Vec<String>,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) at: String,
}

/// Task page.
#[derive(Template)]
#[template(path = "task.html")]
pub(crate) struct TaskView {
    pub(crate) shell: Shell,
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) noun: String,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) title: String,
    /// Title that a person or a program gave; may be empty.
    pub(crate) given_title: String,
    pub(crate) result: String,
    pub(crate) sub: String,
    /// Sentence about what remains of a task that is over; may be empty.
    pub(crate) remains: String,
    pub(crate) is_over: bool,
    pub(crate) strip: Option<Html>,
    pub(crate) tries: Vec<AttemptRow>,
    pub(crate) done: usize,
    pub(crate) steps: Vec<StepRow>,
    pub(crate) artifacts: Vec<ArtifactRow>,
    pub(crate) errors: Vec<OpenErrorRow>,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) receipts: Vec<ReceiptLink>,
    pub(crate) receipts_all: usize,
    pub(crate) learned: Vec<LearnedRow>,
    pub(crate) sessions: Vec<SessionLink>,
    pub(crate) sessions_all: usize,
    pub(crate) approach: String,
    pub(crate) tried: Option<SimilarAttemptsView>,
}

/// Receipt of a context.
pub(crate) struct ReceiptLink {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) meta: Vec<String>,
}

/// Session of a task.
pub(crate) struct SessionLink {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) meta: Vec<String>,
}

/// Record that a task or a session taught.
pub(crate) struct LearnedRow {
    pub(crate) href: String,
    pub(crate) name: String,
    /// Text of a record with a key; empty for others, whose name is their text.
    pub(crate) words: Html,
    pub(crate) kind: &'static str,
    pub(crate) meta: Vec<String>,
}

/// Attempt at the task.
pub(crate) struct AttemptRow {
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) approach: Html,
    pub(crate) meta: Vec<String>,
    pub(crate) state: &'static str,
    pub(crate) outcome: Html,
    pub(crate) has_outcome: bool,
}

/// Step of the task.
pub(crate) struct StepRow {
    pub(crate) words: Html,
    pub(crate) is_done: bool,
    pub(crate) at: String,
}

/// File that the task produced.
pub(crate) struct ArtifactRow {
    pub(crate) path: String,
    pub(crate) detail: String,
    pub(crate) state: &'static str,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// Open error.
pub(crate) struct OpenErrorRow {
    pub(crate) id: String,
    pub(crate) words: Html,
    pub(crate) meta: String,
    pub(crate) task: String,
    pub(crate) href: String,
    pub(crate) csrf: String,
}

/// Past attempts similar to an approach.
pub(crate) struct SimilarAttemptsView {
    pub(crate) words: Html,
    pub(crate) is_bad: bool,
}

/// List of open errors.
#[derive(Template)]
#[template(path = "error_list.html")]
pub(crate) struct ErrorListView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) errors: Vec<OpenErrorRow>,
}

/// Error after it was resolved.
#[derive(Template)]
#[template(path = "removed_row.html")]
pub(crate) struct ResolvedErrorRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) toast: Toast,
}

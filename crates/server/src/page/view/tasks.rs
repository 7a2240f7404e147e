//! What the pages of tasks and of errors show.

use super::Html;
use crate::page::{Shell, Toast};
use askama::Template;

/// The newest tasks.
#[derive(Template)]
#[template(path = "tasks.html")]
pub(crate) struct List {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) states: Vec<(&'static str, String, bool)>,
    pub(crate) rows: Vec<Row>,
    pub(crate) next: String,
}

/// A task in a list.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) meta: Vec<String>,
    pub(crate) state: String,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) at: String,
}

/// One task.
#[derive(Template)]
#[template(path = "task.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) noun: String,
    pub(crate) title: String,
    pub(crate) result: String,
    pub(crate) sub: String,
    pub(crate) is_over: bool,
    pub(crate) strip: Option<Html>,
    pub(crate) tries: Vec<Try>,
    pub(crate) done: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) errors: Vec<OpenError>,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) approach: String,
    pub(crate) tried: Option<Tried>,
}

/// One try.
pub(crate) struct Try {
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) approach: Html,
    pub(crate) meta: Vec<String>,
    pub(crate) state: String,
    pub(crate) outcome: Html,
    pub(crate) has_outcome: bool,
}

/// One step.
pub(crate) struct Step {
    pub(crate) words: Html,
    pub(crate) is_done: bool,
    pub(crate) at: String,
}

/// What a task left behind.
pub(crate) struct Artifact {
    pub(crate) path: String,
    pub(crate) detail: String,
    pub(crate) state: &'static str,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

/// An error that nobody has resolved.
pub(crate) struct OpenError {
    pub(crate) id: String,
    pub(crate) words: Html,
    pub(crate) meta: String,
    pub(crate) task: String,
    pub(crate) href: String,
    pub(crate) csrf: String,
}

/// What was tried that is like an approach.
pub(crate) struct Tried {
    pub(crate) words: Html,
    pub(crate) is_bad: bool,
}

/// Errors that nobody has resolved.
#[derive(Template)]
#[template(path = "errors.html")]
pub(crate) struct Errors {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) errors: Vec<OpenError>,
}

/// An error after it was resolved.
#[derive(Template)]
#[template(path = "gone.html")]
pub(crate) struct Gone {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) toast: Toast,
}

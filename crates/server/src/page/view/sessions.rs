//! What the pages of sessions show.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// The newest sessions.
#[derive(Template)]
#[template(path = "sessions.html")]
pub(crate) struct List {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) rows: Vec<Row>,
}

/// A session in a list.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) meta: Vec<String>,
    pub(crate) at: String,
}

/// One session.
#[derive(Template)]
#[template(path = "session.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) noun: String,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) svg: Option<Html>,
    pub(crate) steps: Vec<Step>,
    pub(crate) shortened: Vec<Shortened>,
    pub(crate) archives: Vec<(String, String)>,
    pub(crate) summaries: Vec<(String, Html)>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) earlier: String,
    pub(crate) cost: Vec<(&'static str, String)>,
    pub(crate) goal: String,
    pub(crate) facts: Vec<(&'static str, Html)>,
}

/// Where the window became smaller.
pub(crate) struct Step {
    pub(crate) n: usize,
    pub(crate) turn: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Something that a window holds only in part.
pub(crate) struct Shortened {
    pub(crate) turn: usize,
    pub(crate) tool: String,
    pub(crate) bar: Html,
    pub(crate) size: String,
    pub(crate) id: String,
}

/// One turn.
pub(crate) struct Turn {
    pub(crate) seq: u64,
    pub(crate) role: &'static str,
    pub(crate) who: String,
    pub(crate) at: String,
    pub(crate) tokens: String,
    pub(crate) words: Html,
    pub(crate) is_long: bool,
    pub(crate) begin: Html,
}

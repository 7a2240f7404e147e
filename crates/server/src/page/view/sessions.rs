//! Views of the session pages.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// List of the newest sessions.
#[derive(Template)]
#[template(path = "sessions.html")]
pub(crate) struct SessionListView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) rows: Vec<SessionRow>,
}

/// Session in the list.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) meta: Vec<String>,
    pub(crate) at: String,
}

/// Session page.
#[derive(Template)]
#[template(path = "session.html")]
pub(crate) struct SessionView {
    pub(crate) shell: Shell,
    pub(crate) noun: String,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) svg: Option<Html>,
    pub(crate) steps: Vec<CompactionStep>,
    pub(crate) shortened: Vec<ShortenedOutput>,
    pub(crate) archives: Vec<(String, String)>,
    pub(crate) summaries: Vec<(String, Html)>,
    pub(crate) turns: Vec<TurnRow>,
    pub(crate) earlier: String,
    pub(crate) cost: Vec<(&'static str, String)>,
    pub(crate) goal: String,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) lessons: Vec<LessonRow>,
}

/// Record that the session taught.
pub(crate) struct LessonRow {
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) words: Html,
    /// Author of the statement and category or kind of the record.
    pub(crate) meta: String,
    /// Lines of the conversation that support it.
    pub(crate) lines: Vec<Html>,
}

/// Compaction step of the window.
pub(crate) struct CompactionStep {
    pub(crate) n: usize,
    pub(crate) turn: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Output that is shortened in the window.
pub(crate) struct ShortenedOutput {
    pub(crate) turn: usize,
    pub(crate) tool: String,
    pub(crate) bar: Html,
    pub(crate) size: String,
    pub(crate) id: String,
}

/// Conversation turn.
pub(crate) struct TurnRow {
    pub(crate) seq: u64,
    pub(crate) role: &'static str,
    pub(crate) who: String,
    pub(crate) at: String,
    pub(crate) tokens: String,
    pub(crate) words: Html,
    pub(crate) is_long: bool,
    pub(crate) begin: Html,
}

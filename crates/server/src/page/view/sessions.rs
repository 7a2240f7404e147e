//! Views of the session pages.

use super::Html;
use super::filters::FilterLink;
use super::tasks::{LearnedRow, ReceiptLink};
use crate::page::Shell;
use askama::Template;

/// List of the newest sessions.
#[derive(Template)]
#[template(path = "sessions.html")]
pub(crate) struct SessionListView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) query: String,
    /// Selected agent and state; may be empty.
    pub(crate) agent: String,
    pub(crate) state: String,
    /// True if the project has no session.
    pub(crate) is_empty: bool,
    /// Sentence about the search; may be empty.
    pub(crate) note: &'static str,
    /// Sentence for a list without rows.
    pub(crate) nothing: String,
    pub(crate) agents: Vec<FilterLink>,
    pub(crate) states: Vec<FilterLink>,
    pub(crate) rows: Vec<SessionRow>,
    /// Addresses of the neighbouring pages; may be empty.
    pub(crate) newer: String,
    pub(crate) older: String,
}

/// Session in the list.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) name: String,
    /// Label and path of its task.
    pub(crate) task: Option<(String, String)>,
    pub(crate) meta: Vec<String>,
    /// Found turn, if it is not the title.
    pub(crate) hit: Html,
    pub(crate) has_hit: bool,
    /// Action of its newest attempt; may be empty.
    pub(crate) outcome: &'static str,
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) at: String,
}

/// Session page.
#[derive(Template)]
#[template(path = "session.html")]
pub(crate) struct SessionView {
    pub(crate) shell: Shell,
    pub(crate) noun: String,
    pub(crate) title: String,
    pub(crate) headline: String,
    pub(crate) sub: String,
    /// Addresses of the transcript as Markdown and as JSON.
    pub(crate) file: String,
    pub(crate) json: String,
    pub(crate) svg: Option<Html>,
    /// Names of the lines of the chart with their last values.
    pub(crate) series: Vec<(&'static str, String)>,
    /// True if the window repeats the goal.
    pub(crate) has_anchor: bool,
    pub(crate) steps: Vec<CompactionStep>,
    pub(crate) shortened: Vec<ShortenedOutput>,
    pub(crate) archives: Vec<(String, String)>,
    pub(crate) summaries: Vec<(String, Html)>,
    pub(crate) turns: Vec<TurnRow>,
    pub(crate) earlier: String,
    /// Recorded tokens of the model.
    pub(crate) usage: Vec<(&'static str, String)>,
    /// Sentence about the share that a window saves; may be empty.
    pub(crate) savings: String,
    pub(crate) goal: String,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) receipts: Vec<ReceiptLink>,
    pub(crate) receipts_all: usize,
    pub(crate) lessons: Vec<LessonRow>,
    /// Records of the session without lines that support them.
    pub(crate) learned: Vec<LearnedRow>,
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

//! View of the inbox.

use super::Html;
use super::knowledge::ConflictView;
use super::tasks::OpenErrorRow;
use crate::page::Shell;
use askama::Template;

/// Inbox page: everything that needs a person's decision.
#[derive(Template)]
#[template(path = "inbox.html")]
pub(crate) struct InboxView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// Sections that have items: name, anchor, number of items.
    pub(crate) parts: Vec<(&'static str, &'static str, usize)>,
    pub(crate) proposals: Vec<InboxRow>,
    pub(crate) conflicts: Vec<ConflictView>,
    pub(crate) blocked: Vec<InboxRow>,
    pub(crate) errors: Vec<OpenErrorRow>,
    pub(crate) pairs: Vec<DuplicatePair>,
    pub(crate) stale: Vec<InboxRow>,
    pub(crate) unused: Vec<InboxRow>,
    /// Number of entries of which a comparison runs; empty if it is complete.
    pub(crate) comparing: String,
}

/// Record with the decisions about it.
pub(crate) struct InboxRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) words: Html,
    pub(crate) why: Html,
    pub(crate) meta: String,
    pub(crate) choices: Vec<InboxChoice>,
    /// True if the bulk actions apply to it.
    pub(crate) is_selectable: bool,
}

/// Decision about a record, as a button.
pub(crate) struct InboxChoice {
    pub(crate) value: &'static str,
    pub(crate) label: &'static str,
    pub(crate) key: &'static str,
}

/// Two near-duplicate records.
pub(crate) struct DuplicatePair {
    pub(crate) older: String,
    pub(crate) newer: String,
    pub(crate) older_name: String,
    pub(crate) newer_name: String,
    pub(crate) alike: String,
    pub(crate) diff: Html,
    pub(crate) older_meta: String,
    pub(crate) newer_meta: String,
}

//! View of the recall page.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Recall page.
#[derive(Template)]
#[template(path = "recall.html")]
pub(crate) struct RecallView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) sub: String,
    pub(crate) question: String,
    /// Words of the query without stop words, separated by commas.
    pub(crate) reads_as: String,
    /// Filters of the query.
    pub(crate) chips: Vec<FilterLink>,
    /// Filters that can be added.
    pub(crate) narrowing: Vec<FilterLink>,
    pub(crate) notes: Vec<String>,
    /// True without a query.
    pub(crate) is_blank: bool,
    /// Examples of queries on the page without a query.
    pub(crate) examples: Vec<Example>,
    /// Names of filters with their meanings.
    pub(crate) filters: &'static [(&'static str, &'static str)],
    /// Series of the bars, with their names.
    pub(crate) legend: Vec<(usize, &'static str)>,
    pub(crate) records: Vec<HitRow>,
    /// Heading of the records.
    pub(crate) records_title: String,
    pub(crate) turns: Vec<HitRow>,
    /// Heading of the turns of conversations.
    pub(crate) turns_title: String,
    /// Address of the page with more hits; empty if all are shown.
    pub(crate) more: String,
    /// Hits below the floor.
    pub(crate) weak: Vec<HitRow>,
    /// Label that opens the hits below the floor.
    pub(crate) weak_title: String,
    /// Address of the query without filters; empty if it has none.
    pub(crate) without_filters: String,
    /// Key or id in the field of the explanation.
    pub(crate) why: String,
    /// Explanation of a record that is not among the hits.
    pub(crate) absence: Option<AbsenceView>,
}

impl RecallView {
    /// Returns a page without content.
    pub(crate) fn of(shell: Shell) -> Self {
        Self {
            shell,
            headline: String::new(),
            sub: String::new(),
            question: String::new(),
            reads_as: String::new(),
            chips: Vec::new(),
            narrowing: Vec::new(),
            notes: Vec::new(),
            is_blank: false,
            examples: Vec::new(),
            filters: &[],
            legend: Vec::new(),
            records: Vec::new(),
            records_title: String::new(),
            turns: Vec::new(),
            turns_title: String::new(),
            more: String::new(),
            weak: Vec::new(),
            weak_title: String::new(),
            without_filters: String::new(),
            why: String::new(),
            absence: None,
        }
    }
}

/// Link that adds or removes a filter.
pub(crate) struct FilterLink {
    /// Filter as it is written.
    pub(crate) filter: String,
    /// Number of hits with it; empty if it is not counted.
    pub(crate) count: String,
    pub(crate) href: String,
}

/// Example of a query.
pub(crate) struct Example {
    pub(crate) label: &'static str,
    pub(crate) question: String,
    pub(crate) href: String,
}

/// Explanation of a record that is not among the hits.
pub(crate) struct AbsenceView {
    /// Name of the record, or the given text.
    pub(crate) name: String,
    /// Path of the record; empty for an unknown one.
    pub(crate) href: String,
    /// Kind of the record; empty for an unknown one.
    pub(crate) kind: &'static str,
    /// Reason, as a sentence.
    pub(crate) reason: String,
    /// Further links: label and path.
    pub(crate) links: Vec<(String, String)>,
}

/// Search hit.
#[derive(Default)]
pub(crate) struct HitRow {
    pub(crate) id: String,
    pub(crate) rank: usize,
    pub(crate) kind: &'static str,
    pub(crate) key: String,
    pub(crate) href: String,
    /// Task, session, source and time: text and path; the path may be empty.
    pub(crate) meta: Vec<(String, String)>,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    /// Path of its open conflict; empty without one.
    pub(crate) conflict: String,
    pub(crate) words: Html,
    pub(crate) why: String,
    pub(crate) parts: Vec<ScorePart>,
    /// Relevance as a percentage; empty for a query of filters.
    pub(crate) relevance: String,
    /// Grade of the relevance.
    pub(crate) grade: &'static str,
    pub(crate) bar: Html,
    /// Note about near-duplicates and copies.
    pub(crate) folded: String,
    pub(crate) is_record: bool,
    pub(crate) is_useful: bool,
}

/// Part of a score.
pub(crate) struct ScorePart {
    pub(crate) series: usize,
    pub(crate) name: &'static str,
    pub(crate) because: String,
    pub(crate) adds: String,
}

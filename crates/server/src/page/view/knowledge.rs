//! Views of the knowledge page.

use super::Html;
use crate::page::{Shell, Toast};
use askama::Template;

/// Knowledge page.
#[derive(Template)]
#[template(path = "knowledge.html")]
pub(crate) struct KnowledgeView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) is_empty: bool,
    pub(crate) conflict: Option<ConflictView>,
    pub(crate) filters: FilterForm,
    pub(crate) is_new: bool,
    pub(crate) rows: Vec<KnowledgeRow>,
    pub(crate) edit: Option<EditForm>,
    pub(crate) pages: PageLinks,
    pub(crate) drawer: Option<HistoryDrawer>,
    /// Path of the list without the drawer.
    pub(crate) list: String,
}

/// Filters of the list: the form, the chips, and the categories with their counts.
pub(crate) struct FilterForm {
    pub(crate) categories: Vec<CategoryFilter>,
    pub(crate) category: String,
    pub(crate) words: String,
    pub(crate) words_encoded: String,
    pub(crate) sources: Vec<FilterChoice>,
    pub(crate) states: Vec<FilterChoice>,
    pub(crate) sorts: Vec<FilterChoice>,
    pub(crate) task: String,
    pub(crate) from: String,
    pub(crate) until: String,
    pub(crate) chips: Vec<FilterChip>,
    /// True if the task or a date is set, so that their fields are shown.
    pub(crate) is_open: bool,
    /// Number of entries that fit.
    pub(crate) fits: String,
    /// Sentence about the entries that were not looked at; may be empty.
    pub(crate) note: String,
}

/// Choice of a select field.
pub(crate) struct FilterChoice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_current: bool,
}

/// Filter that is set, with the path without it.
pub(crate) struct FilterChip {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) remove: String,
}

/// Links of the list: other pages, selection, and export.
pub(crate) struct PageLinks {
    pub(crate) newer: Option<String>,
    pub(crate) newer_label: &'static str,
    pub(crate) older: Option<String>,
    pub(crate) older_label: &'static str,
    pub(crate) select: String,
    pub(crate) is_selected: bool,
    pub(crate) markdown: String,
    pub(crate) json: String,
}

/// Category of the filter.
pub(crate) struct CategoryFilter {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) count: String,
    pub(crate) is_current: bool,
}

/// Conflict with its values.
pub(crate) struct ConflictView {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) place: String,
    pub(crate) next: String,
    pub(crate) until: String,
    pub(crate) sides: Vec<ConflictSide>,
}

/// Value of a conflict.
pub(crate) struct ConflictSide {
    pub(crate) id: String,
    pub(crate) meta: String,
    pub(crate) words: Html,
    pub(crate) key: usize,
}

/// Row of the list.
#[derive(Clone)]
pub(crate) struct KnowledgeRow {
    pub(crate) id: String,
    pub(crate) key: String,
    /// Key, otherwise the beginning of the text.
    pub(crate) name: String,
    pub(crate) words: Html,
    pub(crate) why: Html,
    pub(crate) meta: Vec<String>,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) is_conflict: bool,
    pub(crate) is_on: bool,
    pub(crate) is_selected: bool,
    /// Path of the entry, with the filters of the list.
    pub(crate) href: String,
    /// Path of the edit form, with the filters of the list.
    pub(crate) edit: String,
    /// Path of the list.
    pub(crate) back: String,
    pub(crate) spark: Html,
    pub(crate) uses: String,
    pub(crate) at: String,
    pub(crate) csrf: String,
}

/// Form to correct an entry in its row.
pub(crate) struct EditForm {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) categories: Vec<(String, bool)>,
    /// Confidence of the stored version.
    pub(crate) confidence: String,
    pub(crate) true_from: String,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) csrf: String,
    pub(crate) list: String,
}

/// History of an entry.
pub(crate) struct HistoryDrawer {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_current: bool,
    pub(crate) is_pinned: bool,
    pub(crate) is_muted: bool,
    pub(crate) steps: Vec<HistoryStep>,
    pub(crate) facts: Vec<(&'static str, Html)>,
    pub(crate) versions: usize,
    pub(crate) uses: Vec<ReceiptUse>,
    /// Sentence about the deliveries in contexts.
    pub(crate) uses_summary: String,
    pub(crate) related: Vec<RelatedEntry>,
    pub(crate) graph: Html,
    /// Path of the entry, with the filters of the list.
    pub(crate) here: String,
    /// Path of the edit form, with the filters of the list.
    pub(crate) edit: String,
    pub(crate) csrf: String,
}

/// Receipt that contained an entry.
pub(crate) struct ReceiptUse {
    pub(crate) href: String,
    pub(crate) at: String,
    pub(crate) detail: String,
}

/// Entry, task or session that is related to an entry.
pub(crate) struct RelatedEntry {
    pub(crate) relation: &'static str,
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) kind: &'static str,
}

/// Event in the history.
pub(crate) struct HistoryStep {
    pub(crate) icon: &'static str,
    pub(crate) what: String,
    pub(crate) by: String,
    pub(crate) words: Html,
    /// True if the text is a diff.
    pub(crate) is_diff: bool,
    /// Id of the version that can be restored; may be empty.
    pub(crate) back: String,
}

/// Changed row with a toast.
#[derive(Template)]
#[template(path = "knowledge_saved.html")]
pub(crate) struct RowUpdate {
    pub(crate) row: KnowledgeRow,
    pub(crate) toast: Toast,
}

/// Line that replaces a retired record until the page is left.
#[derive(Template)]
#[template(path = "removed_row.html")]
pub(crate) struct RemovedRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) toast: Toast,
}

/// Toast alone; the page then reloads.
#[derive(Template)]
#[template(path = "toast_only.html")]
pub(crate) struct ToastView {
    pub(crate) toast: Toast,
    /// True if the toast itself is the target of the response.
    pub(crate) is_target: bool,
}

/// Edit conflict: the stored and the submitted version, their difference, and a choice.
#[derive(Template)]
#[template(path = "edit_conflict.html")]
pub(crate) struct EditConflictView {
    pub(crate) shell: Shell,
    /// Name of the entry or file.
    pub(crate) name: String,
    /// Path to which the choice is sent.
    pub(crate) action: String,
    /// Sentence about the change that came first.
    pub(crate) what: String,
    pub(crate) theirs: Html,
    pub(crate) theirs_meta: String,
    pub(crate) mine: Html,
    /// Difference from the stored to the submitted version.
    pub(crate) diff: Html,
    /// True if the difference is one of lines.
    pub(crate) is_line_diff: bool,
    /// Path of the form whose unsaved text the submitted version is.
    pub(crate) draft: String,
    /// Fields that the form submits again.
    pub(crate) fields: Vec<(String, String)>,
    /// Path that keeps the stored version.
    pub(crate) list: String,
}

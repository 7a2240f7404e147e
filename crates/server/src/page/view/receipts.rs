//! Views of the receipt pages.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// List of the newest receipts.
#[derive(Template)]
#[template(path = "receipts.html")]
pub(crate) struct ReceiptListView {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    /// True if no receipt is stored.
    pub(crate) is_empty: bool,
    pub(crate) is_filtered: bool,
    /// Number of receipts that pass the filters.
    pub(crate) found: String,
    pub(crate) rows: Vec<ReceiptRow>,
    pub(crate) sessions: Vec<FilterOption>,
    pub(crate) tasks: Vec<FilterOption>,
    pub(crate) only_cut: bool,
    /// Address and number of the receipts that are not listed.
    pub(crate) rest: Option<(String, String)>,
}

/// Option of a filter.
pub(crate) struct FilterOption {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

/// Receipt in the list.
pub(crate) struct ReceiptRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) at: String,
    /// Name of the agent; may be empty.
    pub(crate) agent: String,
    /// Label and address of the contexts of the same task.
    pub(crate) task: Option<(String, String)>,
    /// Label and address of the contexts of the same session.
    pub(crate) session: Option<(String, String)>,
    pub(crate) contents: String,
    /// Items that did not fit; may be empty.
    pub(crate) cut: String,
    /// Items that were left out for another reason; may be empty.
    pub(crate) irrelevant: String,
    /// Used size and budget.
    pub(crate) used: String,
    pub(crate) unit: &'static str,
    pub(crate) bar: Html,
}

/// Receipt next to the open one.
pub(crate) struct RecentReceipt {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) bar: Html,
    pub(crate) is_current: bool,
}

/// Receipt page.
#[derive(Template)]
#[template(path = "receipt.html")]
pub(crate) struct ReceiptView {
    pub(crate) shell: Shell,
    pub(crate) id: String,
    pub(crate) noun: String,
    pub(crate) headline: String,
    pub(crate) session: Option<(String, String)>,
    pub(crate) asked: String,
    pub(crate) svg: Html,
    /// Swatch, name and size of each part of the chart.
    pub(crate) legend: Vec<(Html, String, String)>,
    pub(crate) shows: Vec<(&'static str, String, usize, bool)>,
    pub(crate) sections: Vec<SectionRow>,
    pub(crate) notes: Vec<String>,
    pub(crate) unit: &'static str,
    /// True if characters have their own column, because the unit is another one.
    pub(crate) has_characters: bool,
    pub(crate) sent: SentText,
    pub(crate) recent: Vec<RecentReceipt>,
    pub(crate) difference: Option<DifferenceView>,
}

/// Text that was sent.
pub(crate) struct SentText {
    /// The text; `None` if the receipt does not have it.
    pub(crate) text: Option<Html>,
    /// Standing instructions that were sent apart from it; may be empty.
    pub(crate) rules: String,
    /// Reason why the text is missing, or why no line is marked; may be empty.
    pub(crate) note: String,
    /// True if the text is unfolded.
    pub(crate) is_open: bool,
    /// True if a line is marked.
    pub(crate) has_mark: bool,
    /// Length of the text.
    pub(crate) size: String,
}

/// Difference to another context.
pub(crate) struct DifferenceView {
    pub(crate) title: String,
    pub(crate) summary: String,
    /// Label and address of the other context; `None` for one that is not stored.
    pub(crate) other: Option<(String, String)>,
    pub(crate) groups: Vec<DifferenceGroup>,
    /// Text of the other context, for the one that was built now.
    pub(crate) text: Option<Html>,
}

/// Items that only one of the contexts has.
pub(crate) struct DifferenceGroup {
    pub(crate) title: String,
    /// Class of the rows: `ins` or `del`.
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) items: Vec<DifferenceItem>,
}

/// Item that only one of the contexts has.
pub(crate) struct DifferenceItem {
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) words: Html,
    pub(crate) section: String,
    pub(crate) size: String,
}

/// Section of a receipt.
pub(crate) struct SectionRow {
    pub(crate) series: usize,
    pub(crate) name: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) share: Html,
    pub(crate) items: Vec<ItemRow>,
    /// Reason that all included items have; may be empty.
    pub(crate) why: String,
    pub(crate) more: String,
    /// Omitted items that are not relevant, if they are not in the rows: their number and size.
    pub(crate) folded: String,
}

/// Included or omitted item.
pub(crate) struct ItemRow {
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) words: Html,
    /// File and line; may be empty.
    pub(crate) file: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) why: String,
    /// Address of its lines in the text; may be empty.
    pub(crate) line_href: String,
    pub(crate) is_in: bool,
}

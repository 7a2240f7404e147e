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
    pub(crate) rows: Vec<ReceiptRow>,
}

/// Receipt in the list.
pub(crate) struct ReceiptRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) used: String,
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
    pub(crate) shows: Vec<(&'static str, String, usize, bool)>,
    pub(crate) sections: Vec<SectionRow>,
    pub(crate) notes: Vec<String>,
    pub(crate) unit: &'static str,
    pub(crate) recent: Vec<ReceiptRow>,
    /// Context as the same request would produce it now.
    pub(crate) again: Option<String>,
}

/// Section of a receipt.
pub(crate) struct SectionRow {
    pub(crate) series: usize,
    pub(crate) name: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) share: Html,
    pub(crate) items: Vec<ItemRow>,
    pub(crate) more: String,
}

/// Included or omitted item.
pub(crate) struct ItemRow {
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) words: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) why: String,
    pub(crate) is_in: bool,
}

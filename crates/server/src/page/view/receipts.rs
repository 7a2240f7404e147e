//! What the pages of receipts show.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// The newest receipts.
#[derive(Template)]
#[template(path = "receipts.html")]
pub(crate) struct List {
    pub(crate) shell: Shell,
    pub(crate) headline: String,
    pub(crate) rows: Vec<Short>,
}

/// A receipt in a list.
pub(crate) struct Short {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) used: String,
    pub(crate) bar: Html,
    pub(crate) is_current: bool,
}

/// One receipt.
#[derive(Template)]
#[template(path = "receipt.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) id: String,
    pub(crate) noun: String,
    pub(crate) headline: String,
    pub(crate) session: Option<(String, String)>,
    pub(crate) asked: String,
    pub(crate) svg: Html,
    pub(crate) shows: Vec<(&'static str, String, usize, bool)>,
    pub(crate) sections: Vec<Section>,
    pub(crate) notes: Vec<String>,
    pub(crate) unit: &'static str,
    pub(crate) recent: Vec<Short>,
    /// The context as it would be now.
    pub(crate) again: Option<String>,
}

/// A section of a receipt.
pub(crate) struct Section {
    pub(crate) series: usize,
    pub(crate) name: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) share: Html,
    pub(crate) items: Vec<Item>,
    pub(crate) more: String,
}

/// An item, in or out.
pub(crate) struct Item {
    pub(crate) kind: &'static str,
    pub(crate) href: String,
    pub(crate) words: String,
    pub(crate) size: String,
    pub(crate) chars: String,
    pub(crate) why: String,
    pub(crate) is_in: bool,
}

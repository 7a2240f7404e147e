//! View of the command palette.

use askama::Template;

/// Matches of the command palette.
#[derive(Template)]
#[template(path = "command_palette.html")]
pub(crate) struct PaletteView {
    pub(crate) jumps: Vec<PaletteItem>,
}

/// Match with its link.
pub(crate) struct PaletteItem {
    pub(crate) href: String,
    pub(crate) icon: &'static str,
    pub(crate) words: String,
    pub(crate) hint: String,
}

//! What the editors of the workspace and of groups show.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Files on the left, an editor with a preview on the right.
#[derive(Template)]
#[template(path = "files.html")]
pub(crate) struct View {
    pub(crate) shell: Shell,
    pub(crate) noun: &'static str,
    pub(crate) headline: String,
    pub(crate) sub: &'static str,
    /// Groups to choose from; none for the workspace.
    pub(crate) groups: Vec<(String, String, bool)>,
    pub(crate) is_empty: bool,
    pub(crate) files: Vec<File>,
    pub(crate) open: Option<Open>,
}

/// A file of the list.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) size: String,
    pub(crate) is_current: bool,
}

/// The file that is edited.
pub(crate) struct Open {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) text: String,
    pub(crate) tag: String,
    pub(crate) about: String,
    pub(crate) preview: Html,
}

/// Only a preview.
#[derive(Template)]
#[template(path = "preview.html")]
pub(crate) struct Preview {
    pub(crate) preview: Html,
}

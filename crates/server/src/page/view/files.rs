//! View of the workspace and group editors.

use super::Html;
use crate::page::Shell;
use askama::Template;

/// Editor page: list of files, editor, and preview.
#[derive(Template)]
#[template(path = "files.html")]
pub(crate) struct FilesView {
    pub(crate) shell: Shell,
    pub(crate) noun: &'static str,
    pub(crate) headline: String,
    pub(crate) sub: &'static str,
    /// Selectable groups; empty for the workspace.
    pub(crate) groups: Vec<(String, String, bool)>,
    pub(crate) is_empty: bool,
    pub(crate) files: Vec<FileEntry>,
    pub(crate) open: Option<OpenFile>,
}

/// File in the list.
pub(crate) struct FileEntry {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) size: String,
    pub(crate) is_current: bool,
}

/// Edited file.
pub(crate) struct OpenFile {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) text: String,
    pub(crate) tag: String,
    pub(crate) about: String,
    pub(crate) preview: Html,
}

/// Preview alone.
#[derive(Template)]
#[template(path = "preview.html")]
pub(crate) struct PreviewView {
    pub(crate) preview: Html,
}

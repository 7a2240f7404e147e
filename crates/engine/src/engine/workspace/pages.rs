//! The files of a workspace as they are, for whoever shows them one by one.

use super::Engine;
use super::files::{Corner, Root, refused};
use crate::places::FileStat;
use heirloom_model::{Fault, text};

/// A file of the project's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePage {
    /// Its path in the workspace.
    pub path: String,
    /// What the file system says of it: another answer means that it was changed.
    pub stat: FileStat,
}

impl Engine {
    /// The files of the project's workspace that are there, in the order in which they count.
    pub fn workspace_pages(&self) -> Vec<WorkspacePage> {
        let Some(root) = Root::of(self, Corner::Project).filter(Root::is_there) else {
            return Vec::new();
        };
        let (files, _) = root.files();
        let page = |path: String| {
            let stat = root.stat(&path)?;
            Some(WorkspacePage { path, stat })
        };
        files.into_iter().filter_map(page).collect()
    }

    /// What one of these files says. Errors: `NotFound` for any other file; `Refused` for what is no text of a reasonable
    /// size inside of the workspace.
    pub fn workspace_page(&self, path: &str) -> Result<String, Fault> {
        let missing = || {
            let path = text::excerpt(path, 120);
            Fault::not_found(format!("the workspace has no file `{path}`"))
                .hint("`heirloom workspace --help` says which files there are")
        };
        let root = Root::of(self, Corner::Project).ok_or_else(missing)?;
        if !root.files().0.iter().any(|file| file == path) {
            return Err(missing());
        }
        let page = root.read(path);
        let page = page.map_err(|problem| refused(&root.shown(path), &problem))?;
        let text = page.ok_or_else(missing)?.text;
        Ok(self.clean(&text).into_owned())
    }
}

//! The files of a workspace as they are, for whoever shows them one by one.

use super::Engine;
use super::files::{Corner, Root, refused};
use crate::places::FileStat;
use heirloom_model::Fault;

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
}

impl WorkspacePage {
    /// What the file says, without its secrets. Errors: `NotFound` if it has gone; `Refused` for what is no text of a
    /// reasonable size inside of the workspace.
    pub fn text(&self, engine: &Engine) -> Result<String, Fault> {
        let root = Root::of(engine, Corner::Project);
        let page = match &root {
            None => None,
            Some(root) => root
                .read(&self.path)
                .map_err(|problem| refused(&root.shown(&self.path), &problem))?,
        };
        let page = page.ok_or_else(|| {
            Fault::not_found(format!("the workspace has no file `{}`", self.path))
        })?;
        Ok(engine.clean(&page.text).into_owned())
    }
}

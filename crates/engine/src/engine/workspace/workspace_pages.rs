//! Files of a workspace, for display one by one.

use super::Engine;
use super::workspace_files::{WorkspaceKind, WorkspaceRoot, refused};
use crate::engine::Workspaces;
use heirloom_fs::project_fs::FileStat;
use heirloom_model::Fault;

/// File of the project's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePage {
    /// Path in the workspace.
    pub path: String,
    /// File metadata, for change detection.
    pub stat: FileStat,
}

impl Workspaces<'_> {
    /// Lists the existing files of the project's workspace, in order of precedence.
    pub fn pages(&self) -> Vec<WorkspacePage> {
        let Some(root) = WorkspaceRoot::open(self.engine, WorkspaceKind::Project)
            .filter(WorkspaceRoot::is_there)
        else {
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
    /// Reads the redacted text of the file. Errors: `NotFound` if it is gone; `Refused` if it is not a text file of
    /// reasonable size in the workspace.
    pub fn text(&self, engine: &Engine) -> Result<String, Fault> {
        let root = WorkspaceRoot::open(engine, WorkspaceKind::Project);
        let page = match &root {
            None => None,
            Some(root) => root
                .read(&self.path)
                .map_err(|problem| refused(&root.shown(&self.path), &problem))?,
        };
        let page = page.ok_or_else(|| {
            Fault::not_found(format!("the workspace has no file `{}`", self.path))
        })?;
        Ok(engine.redaction().redact_input(&page.text).into_owned())
    }
}

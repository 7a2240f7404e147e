//! Workspace of another program, read for an import.

use super::workspace_files::WorkspaceRoot;
use crate::engine::external_import::RulesFile;
use crate::engine::shared_context_import::SharedFile;
use heirloom_formats::workspace;
use std::io::ErrorKind;
use std::path::Path;

/// Reads the pages of the workspace at `folder`, displayed as `shown`; also returns messages about unreadable files.
/// Writes nothing; links may not lead out of the folder.
pub fn read_external_workspace(folder: &Path, shown: &str) -> (Vec<RulesFile>, Vec<String>) {
    let root = WorkspaceRoot::foreign(folder, shown);
    let (paths, mut notes) = root.files();
    for below in ["", ".learnings", "memory"] {
        if let Err(error) = std::fs::read_dir(folder.join(below))
            && error.kind() != ErrorKind::NotFound
        {
            notes.push(format!(
                "{}: it cannot be listed: {error}",
                root.shown(below)
            ));
        }
    }
    let mut pages = Vec::new();
    for path in paths {
        let shown = root.shown(&path);
        match root.read(&path) {
            Ok(Some(page)) => pages.push(RulesFile {
                file: SharedFile {
                    path: shown,
                    text: page.text,
                },
                about: Some(workspace::file_category(&path)),
                ..RulesFile::default()
            }),
            Ok(None) => {}
            Err(problem) => notes.push(format!("{shown}: {problem}")),
        }
    }
    (pages, notes)
}

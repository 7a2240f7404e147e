//! The workspace of another program, read to be taken in once.

use super::files::Root;
use crate::engine::foreign::RulesFile;
use crate::engine::shared::SharedFile;
use crate::workspace;
use std::io::ErrorKind;
use std::path::Path;

/// The pages of the workspace at `folder`, which is told as `shown`, and what could not be read. Nothing is written;
/// links are followed inside of it only.
pub fn foreign_workspace(folder: &Path, shown: &str) -> (Vec<RulesFile>, Vec<String>) {
    let root = Root::foreign(folder, shown);
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
                about: Some(workspace::about(&path)),
            }),
            Ok(None) => {}
            Err(problem) => notes.push(format!("{shown}: {problem}")),
        }
    }
    (pages, notes)
}

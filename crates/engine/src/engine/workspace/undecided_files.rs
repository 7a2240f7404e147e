//! Files that came with the project and that no person has trusted yet.

use super::workspace_files::{WorkspaceKind, WorkspaceRoot};
use crate::engine::{FileVerdict, Workspaces};
use heirloom_fs::project_fs;
use heirloom_model::limits;
use std::path::PathBuf;

/// File that reaches agents, with the decision about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Path of the file, as it is displayed.
    pub shown: String,
    /// Its text.
    pub text: String,
    /// The decision.
    pub verdict: FileVerdict,
}

impl Workspaces<'_> {
    /// Lists the project's files that reach agents: its workspace, the team's files and the groups' memories, with the
    /// decision about each. Unreadable ones are left out: they are not used.
    pub fn reviewed_files(&self) -> Vec<ReviewedFile> {
        let mut found = Vec::new();
        for kind in [
            WorkspaceKind::Project,
            WorkspaceKind::Team,
            WorkspaceKind::Groups,
        ] {
            let Some(root) = WorkspaceRoot::open(self.engine, kind).filter(WorkspaceRoot::is_there)
            else {
                continue;
            };
            for path in root.files().0 {
                if let Ok(Some(file)) = root.read_any(&path) {
                    found.push(ReviewedFile {
                        verdict: root.verdict(&path, &file.text),
                        shown: root.shown(&path),
                        path: root.folder.join(&path),
                        text: file.text,
                    });
                }
            }
        }
        found.extend(self.reviewed_mirror());
        found
    }

    /// Lists the files that wait for the decision of a person.
    pub fn undecided_files(&self) -> Vec<ReviewedFile> {
        let mut found = self.reviewed_files();
        found.retain(|file| file.verdict == FileVerdict::Undecided);
        found
    }

    /// Returns the mirror if it exists: another program may have left it.
    fn reviewed_mirror(&self) -> Option<ReviewedFile> {
        let path = self.engine.mirror().path().ok()?;
        let folder = path.parent()?;
        let name = path.file_name()?.to_str()?;
        let read = project_fs::read_text(folder, name, limits::MIRROR_BYTES_MAX);
        let text = read.ok()?.text;
        Some(ReviewedFile {
            verdict: self.engine.file_trust.verdict(&path, text.as_bytes()),
            shown: self.engine.settings.mirror_path.clone(),
            path,
            text,
        })
    }
}

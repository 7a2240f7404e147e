//! Attribution of a transcript to a project by the folder in which it was recorded.

use crate::Transcripts;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::TranscriptHeader;
use heirloom_fs::project_fs;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Relation of a transcript's folder to the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProjectMatch {
    /// The project's root.
    Root(PathBuf),
    /// A folder below the project's root.
    Subfolder(PathBuf),
    /// A folder outside of the project.
    Outside(String),
    /// The transcript does not name its folder.
    Unknown,
}

impl Transcripts<'_> {
    /// Returns the relation of the transcript at `path` to the project. A folder in `former_root` counts as the project's.
    pub(super) fn match_project(
        &self,
        agent: AgentProgram,
        path: &Path,
        head: &TranscriptHeader,
        former_root: Option<&Path>,
    ) -> ProjectMatch {
        let recorded = agent.recorded_folder(path, head);
        let Some(folder) = recorded else {
            return match &head.folder_hash {
                Some(hash) if is_hash_of(hash, self.engine.root()) => {
                    ProjectMatch::Root(self.engine.root().to_path_buf())
                }
                Some(hash) => ProjectMatch::Outside(format!("a folder with the SHA-256 {hash}")),
                None => ProjectMatch::Unknown,
            };
        };
        let place = Path::new(&folder);
        if let Some(below) = former_root.and_then(|known| place.strip_prefix(known).ok()) {
            return self.here_or_inside(below, place);
        }
        if !place.is_absolute() {
            return ProjectMatch::Outside(folder);
        }
        match project_fs::find_project(place) {
            // A linked worktree belongs to the project; a project nested in it does not.
            Some(found) if is_same_path(&found.folder, self.engine.folder()) => {
                let real = project_fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
                let below = real.strip_prefix(&found.root).unwrap_or(Path::new(""));
                self.here_or_inside(below, &found.root.join(below))
            }
            _ => ProjectMatch::Outside(folder),
        }
    }

    fn here_or_inside(&self, below: &Path, folder: &Path) -> ProjectMatch {
        match below.as_os_str().is_empty() {
            true => ProjectMatch::Root(folder.to_owned()),
            false => ProjectMatch::Subfolder(folder.to_owned()),
        }
    }
}

fn is_same_path(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| project_fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

fn is_hash_of(hash: &str, root: &Path) -> bool {
    let digest = Sha256::digest(root.to_string_lossy().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.eq_ignore_ascii_case(hash)
}

//! Attribution of a transcript to a project by the folder in which it was recorded.

use super::recorded_folder::RecordedFolder;
use crate::Transcripts;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::TranscriptHeader;
use heirloom_fs::project_fs;
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

/// Folders other than the present one whose transcripts count as the project's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FormerRoots<'r> {
    /// The folder that a person named.
    named: Option<&'r Path>,
    /// Folders in which the project was seen.
    seen: &'r [PathBuf],
}

impl<'r> FormerRoots<'r> {
    pub(super) fn new(named: Option<&'r Path>, seen: &'r [PathBuf]) -> Self {
        Self { named, seen }
    }

    /// Returns the root that contains a folder, and the path below it. A folder that exists belongs to its present project,
    /// unless a person says otherwise.
    pub(super) fn find(&self, folder: &str) -> Option<(&'r Path, String)> {
        let recorded = RecordedFolder::parse(folder);
        let below = |root: &'r Path| {
            let below = recorded.below(&RecordedFolder::parse(&root.to_string_lossy()))?;
            Some((root, below))
        };
        self.named.and_then(below).or_else(|| {
            let seen = self.seen.iter().filter(|root| !is_present(root));
            seen.filter_map(|root| below(root))
                .min_by_key(|(_, below)| below.len())
        })
    }

    /// Returns the root with a hash.
    fn find_hash(&self, hash: &str) -> Option<&'r Path> {
        let is_it = |root: &&Path| {
            let text = root.to_string_lossy();
            RecordedFolder::parse(&text).has_hash(&text, hash)
        };
        let seen = self.seen.iter().map(PathBuf::as_path);
        self.named
            .filter(is_it)
            .or_else(|| seen.filter(|root| !is_present(root)).find(is_it))
    }
}

/// Returns true for a path that exists, be it a broken link.
fn is_present(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

impl Transcripts<'_> {
    /// Returns the relation of the transcript at `path` to the project. A folder in one of `roots` counts as the project's.
    pub(super) fn match_project(
        &self,
        agent: AgentProgram,
        path: &Path,
        head: &TranscriptHeader,
        roots: &FormerRoots<'_>,
    ) -> ProjectMatch {
        let recorded = agent.recorded_folder(path, head);
        let Some(folder) = recorded else {
            return match &head.folder_hash {
                Some(hash) if is_hash_of(hash, self.engine.root()) => {
                    ProjectMatch::Root(self.engine.root().to_path_buf())
                }
                Some(hash) if roots.find_hash(hash).is_some() => {
                    ProjectMatch::Root(self.engine.root().to_path_buf())
                }
                Some(hash) => ProjectMatch::Outside(format!("a folder with the SHA-256 {hash}")),
                None => ProjectMatch::Unknown,
            };
        };
        let place = Path::new(&folder);
        if let Some((_, below)) = roots.find(&folder) {
            return self.here_or_inside(Path::new(&below), place);
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
    let text = root.to_string_lossy();
    RecordedFolder::parse(&text).has_hash(&text, hash)
}

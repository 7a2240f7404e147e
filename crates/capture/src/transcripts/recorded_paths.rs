//! Recorded paths: the files that a transcript names, as paths of the project.

use super::attribution::FormerRoots;
use super::recorded_folder::RecordedFolder;
use crate::Transcripts;
use heirloom_fs::project_fs;
use heirloom_model::limits;
use std::path::{Path, PathBuf};

impl Transcripts<'_> {
    /// Returns the folder that file paths of a transcript are relative to: the project's root when it was recorded.
    pub(super) fn base_of(&self, folder: &Path, roots: &FormerRoots<'_>) -> PathBuf {
        match roots.find(&folder.to_string_lossy()) {
            Some((known, _)) => known.to_owned(),
            None => project_fs::find_project(folder)
                .map_or_else(|| self.engine.root().to_path_buf(), |place| place.root),
        }
    }

    /// Resolves a file name of a transcript relative to the project's root; `None` outside of it.
    pub(super) fn file_inside(&self, base: &Path, folder: &Path, named: &str) -> Option<String> {
        if named.len() > limits::PATH_BYTES_MAX || named.contains('\0') {
            return None;
        }
        let inside = |path: &str| project_fs::normalise_project_path(self.engine.root(), path).ok();
        let [old_base, old_folder] =
            [base, folder].map(|path| RecordedFolder::parse(&path.to_string_lossy()));
        if old_folder.is_of_windows() {
            let path = old_folder.join(&RecordedFolder::parse(named));
            return inside(&path.below(&old_base)?);
        }
        let path = folder.join(named);
        let path = path.strip_prefix(base).unwrap_or(&path);
        inside(&path.to_string_lossy())
    }
}

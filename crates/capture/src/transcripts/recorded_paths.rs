//! Recorded paths: the files that a transcript names, as paths of the project.

use crate::Transcripts;
use heirloom_fs::project_fs;
use heirloom_model::limits;
use std::path::{Path, PathBuf};

impl Transcripts<'_> {
    /// Returns the folder that file paths of a transcript are relative to: the project's root when it was recorded.
    pub(super) fn base_of(&self, folder: &Path, former_root: Option<&Path>) -> PathBuf {
        match former_root.filter(|known| folder.starts_with(known)) {
            Some(known) => known.to_owned(),
            None => project_fs::find_project(folder)
                .map_or_else(|| self.engine.root().to_path_buf(), |place| place.root),
        }
    }

    /// Resolves a file name of a transcript relative to the project's root; `None` outside of it.
    pub(super) fn file_inside(&self, base: &Path, folder: &Path, named: &str) -> Option<String> {
        if named.len() > limits::PATH_BYTES_MAX || named.contains('\0') {
            return None;
        }
        let path = folder.join(named);
        let path = path.strip_prefix(base).unwrap_or(&path);
        project_fs::normalise_project_path(self.engine.root(), &path.to_string_lossy()).ok()
    }
}

//! Folder with the state of hooks, in the memory's folder.
//!
//! Hooks write it; a purge deletes the states of sessions, because they may contain deleted text.

use heirloom_fs::durable;
use heirloom_fs::file_metadata;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use std::path::{Path, PathBuf};

/// Name of the folder.
const FOLDER: &str = "hooks";

/// Folder with a state file for each session, and the log of hook calls.
#[derive(Debug, Clone)]
pub struct HookStateFolder {
    path: PathBuf,
}

/// File with the state of a session; ordered by time of modification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookStateFile {
    seconds: i64,
    nanoseconds: i64,
    /// Path of the file.
    pub path: PathBuf,
}

impl HookStateFolder {
    /// Returns the folder in the folder of a memory; does not create it.
    pub fn in_memory(memory: &Path) -> Self {
        Self {
            path: memory.join(FOLDER),
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if it is missing.
    ///
    /// Errors: `Refused` for a link, which may come with a clone and lead out of the project; those of creating a
    /// folder.
    pub fn create(&self) -> Result<(), Fault> {
        if self.path.is_symlink() {
            let what = format!(
                "{} is a link, which hooks do not follow",
                self.path.to_escaped()
            );
            return Err(Fault::refused(what).hint("remove the link; the folder is created again"));
        }
        if !self.path.is_dir() {
            durable::create_dir_private(&self.path)?;
        }
        Ok(())
    }

    /// Lists the paths of state files, their lock files and temporary files that remain if a writer was killed.
    pub fn paths(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten();
        let paths = entries.map(|entry| entry.path());
        let is_state_file = |path: &PathBuf| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("json" | "lock" | "tmp"))
        };
        paths.filter(is_state_file).collect()
    }

    /// Lists the regular files among [`Self::paths`] with their times of modification.
    pub fn files(&self) -> Vec<HookStateFile> {
        let files = self.paths().into_iter().filter_map(|path| {
            let found = path.symlink_metadata().ok()?;
            let (seconds, nanoseconds) = file_metadata::modified_time(&found);
            found.is_file().then_some(HookStateFile {
                path,
                seconds,
                nanoseconds,
            })
        });
        files.collect()
    }

    /// Deletes the states of all sessions.
    pub fn remove_states(&self) {
        if self.path.is_symlink() {
            return;
        }
        for file in self.files() {
            drop(durable::remove_if_exists(&file.path));
        }
    }
}

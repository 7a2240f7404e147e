//! Folders in which a project was seen: its worktrees, and symbolic links to it. Conversations name them after they are
//! gone.
//!
//! They are files in the user's data folder, one for each, so that concurrent calls do not overwrite each other, and so
//! that no project can claim the conversations of another one.

use super::CliSession;
use super::private_files::{create_folder, remove_file, write_file};
use crate::config::Environment;
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::limits;
use heirloom_prompt::custom_commands;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Subfolder of the user's data folder.
const FOLDER: &str = "folders";

/// A folder of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeenFolder {
    /// Folder with the project's memory.
    #[serde(rename = "memory")]
    memory: String,
    #[serde(rename = "path")]
    path: String,
}

/// The folders that were seen on this machine.
pub(crate) struct ProjectFolders {
    /// `None` if the environment has no data folder.
    folder: Option<PathBuf>,
}

impl ProjectFolders {
    /// Returns the folders that the user's calls have seen.
    pub(crate) fn of(env: &Environment) -> Self {
        Self {
            folder: env.trust_dir().map(|data| data.join(FOLDER)),
        }
    }

    /// Remembers a folder of a project. A failure is ignored: it only makes a later import skip more.
    fn remember(&self, place: &ProjectPaths, path: &Path) {
        let seen = SeenFolder {
            memory: place.folder.to_string_lossy().into_owned(),
            path: path.to_string_lossy().into_owned(),
        };
        let Some(folder) = &self.folder else {
            return;
        };
        let name = custom_commands::fingerprint(&[seen.memory.as_bytes(), seen.path.as_bytes()]);
        let file = folder.join(format!("{name}.json"));
        if file.symlink_metadata().is_ok() {
            return;
        }
        let Ok(text) = serde_json::to_string(&seen) else {
            return;
        };
        self.make_room();
        let written =
            create_folder(folder).and_then(|()| write_file(&file, format!("{text}\n").as_bytes()));
        drop(written);
    }

    /// Removes the oldest ones above the limit.
    fn make_room(&self) {
        let Some(Ok(entries)) = self.folder.as_ref().map(|folder| folder.read_dir()) else {
            return;
        };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let excess = (files.len() + 1).saturating_sub(limits::SEEN_FOLDERS_MAX);
        for (_, file) in files.iter().take(excess) {
            drop(remove_file(file));
        }
    }

    /// Returns the folders of the project with this memory.
    pub(crate) fn list(&self, memory: &Path) -> Vec<PathBuf> {
        let Some(Ok(entries)) = self.folder.as_ref().map(|folder| folder.read_dir()) else {
            return Vec::new();
        };
        let memory = memory.to_string_lossy();
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter_map(|entry| {
                let bytes =
                    project_fs::read_bounded(&entry.path(), limits::CONFIG_BYTES_MAX).ok()?;
                serde_json::from_slice::<SeenFolder>(&bytes).ok()
            })
            .filter(|seen| seen.memory == memory)
            .map(|seen| PathBuf::from(seen.path))
            .collect();
        found.sort();
        found
    }
}

/// Remembers the folder of the project from which a call started, if the memory is elsewhere: in the main worktree, or
/// behind a symbolic link.
pub(super) fn remember_project_folder(session: &CliSession, place: &ProjectPaths) {
    let folders = ProjectFolders::of(&session.env);
    let is_own = place.root.join(project_fs::HEIRLOOM_FOLDER) == place.folder;
    // A store in the user's data folder has a list of its folders.
    let data = session.env.data_dir();
    let is_listed = data.is_some_and(|data| place.folder.starts_with(data));
    if !is_own && !is_listed {
        folders.remember(place, &place.root);
    }
    let linked = given_start_folder(session).and_then(|given| linked_root(&given, &place.root));
    if let Some(linked) = linked {
        folders.remember(place, &linked);
    }
}

/// Returns the folder to start from as it was written: with its symbolic links.
fn given_start_folder(session: &CliSession) -> Option<PathBuf> {
    let given = session.global.project_dir.clone();
    let variable = |name| session.env.get(name).map(PathBuf::from);
    // A shell writes the path by which its user came.
    given
        .or_else(|| variable("HEIRLOOM_PROJECT_DIR"))
        .or_else(|| variable("PWD"))
        .filter(|path| path.is_absolute())
}

/// Returns the path of `root` by the links in `given`; `None` without links, or if `given` is not inside of it.
fn linked_root(given: &Path, root: &Path) -> Option<PathBuf> {
    let real = project_fs::canonicalize(given).ok()?;
    let below = real.strip_prefix(root).ok()?;
    let linked = match below.as_os_str().is_empty() {
        true => given.to_owned(),
        false => {
            let count = given
                .components()
                .count()
                .checked_sub(below.components().count())?;
            let begin: PathBuf = given.components().take(count).collect();
            given.ends_with(below).then_some(begin)?
        }
    };
    (linked != root).then_some(linked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_testkit::TempProject;

    fn place(memory: &Path) -> ProjectPaths {
        ProjectPaths {
            root: memory.to_owned(),
            folder: memory.to_owned(),
            config: memory.join("config.toml"),
        }
    }

    #[test]
    fn folders_over_limit_drop_the_oldest() {
        let data = TempProject::plain().unwrap();
        let folders = ProjectFolders {
            folder: Some(data.path().join(FOLDER)),
        };
        let (one, other) = (place(Path::new("/one")), place(Path::new("/other")));
        for n in 0..limits::SEEN_FOLDERS_MAX {
            folders.remember(&one, &PathBuf::from(format!("/tree{n}")));
            folders.remember(&one, &PathBuf::from(format!("/tree{n}")));
        }
        assert_eq!(folders.list(&one.folder).len(), limits::SEEN_FOLDERS_MAX);
        folders.remember(&other, Path::new("/tree"));
        assert_eq!(
            folders.list(&one.folder).len(),
            limits::SEEN_FOLDERS_MAX - 1
        );
        assert_eq!(folders.list(&other.folder), [Path::new("/tree")]);
    }

    #[cfg(unix)]
    #[test]
    fn root_by_a_link_is_found_from_any_folder_below() {
        let side = TempProject::plain().unwrap();
        let base = project_fs::canonicalize(side.path()).unwrap();
        let root = base.join("shop");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        let link = base.join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        let find = |below: &str| linked_root(&link.join(below), &root);
        assert_eq!(find("").as_deref(), Some(&*link.join("")));
        assert_eq!(find("a/b"), Some(link.clone()));
        assert_eq!(linked_root(&root.join("a"), &root), None);
        assert_eq!(linked_root(&base, &root), None);
        assert_eq!(linked_root(Path::new("/missing"), &root), None);
    }
}

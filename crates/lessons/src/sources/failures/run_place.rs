//! Places of runs: the folder and the tree in which a command ran. A run elsewhere proves nothing.

use crate::bounded_text::bounded;
use crate::command_run::CommandRun;
use crate::project_paths::ProjectPaths;
use serde::{Deserialize, Serialize};

/// Bytes of a folder or tree.
const NAME_BYTES_MAX: usize = 160;

/// Folder and tree in which a command ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RunPlace {
    /// Folder relative to the project's; `None` if it is not known.
    folder: Option<String>,
    tree: String,
}

impl RunPlace {
    /// Returns the place of a run. `has_moved` is true if an earlier command changed the folder.
    pub(super) fn new(run: &CommandRun, tree: &str, has_moved: bool, paths: &ProjectPaths) -> Self {
        let folder = match &run.folder {
            Some(folder) => paths.relative_folder(folder),
            None if has_moved => None,
            None => Some(String::new()),
        };
        Self {
            folder: folder.map(|folder| bounded(&folder, NAME_BYTES_MAX)),
            tree: bounded(tree, NAME_BYTES_MAX),
        }
    }

    /// Returns true if both ran in the same tree.
    pub(super) fn is_same_tree(&self, other: &Self) -> bool {
        self.tree == other.tree
    }

    /// Returns true if a run at one place shows something about the other: the same tree, and no other folder.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_elsewhere = match (&self.folder, &other.folder) {
            (Some(one), Some(other)) => one != other,
            (None, _) | (_, None) => false,
        };
        self.is_same_tree(other) && !is_elsewhere
    }
}

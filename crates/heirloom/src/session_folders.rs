//! Folders in which sessions of agent programs began: an agent that changes its folder still works for that project.

use crate::config::Environment;
use crate::store_access::{create_folder, remove_file, write_file};
use heirloom_agents::hooks::{HookEvent, HookEventKind};
use heirloom_fs::project_fs;
use heirloom_model::{limits, text};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Subfolder of the user's data folder, with a file for each running session.
const FOLDER: &str = "sessions";

/// Record of the folder in which the session of an event began.
pub(crate) struct SessionFolder {
    /// The file of the session; `None` without a data folder or a session.
    file: Option<PathBuf>,
    /// Folder in which the session began.
    begun: Option<PathBuf>,
    current: Option<PathBuf>,
    kind: Option<HookEventKind>,
}

impl SessionFolder {
    /// Reads the record for the session of `event`.
    pub(crate) fn read(
        env: &Environment,
        host: &str,
        kind: Option<HookEventKind>,
        event: &HookEvent,
    ) -> Self {
        let folder = env.data_dir().map(|data| data.join(FOLDER));
        let name = event.session.as_deref();
        let name = name.map(|session| text::hash16(&format!("{host}\n{session}")));
        let file = folder.zip(name).map(|(folder, name)| folder.join(name));
        let begun = match kind {
            Some(HookEventKind::SessionStart) => None,
            _ => file.as_deref().and_then(read_folder),
        };
        let current = event.cwd.as_ref().map(PathBuf::from);
        Self {
            file,
            begun,
            current: current.filter(|folder| folder.is_absolute()),
            kind,
        }
    }

    /// Returns the folder of the session's project: where it began, else the folder of the event.
    ///
    /// Example: after `cd /tmp/clone` a failed command is still a failure of the project in which the session was
    /// started.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.begun.as_deref().or(self.current.as_deref())
    }

    /// Records the folder of a session that begins in a project; removes the record of one that ends.
    pub(crate) fn update(&self) {
        let (Some(file), Some(current)) = (&self.file, &self.current) else {
            return;
        };
        // Best effort: without the record the session is where its events are.
        if self.kind == Some(HookEventKind::SessionEnd) {
            drop(remove_file(file));
        } else if self.begun.is_none() {
            record(file, current);
        }
    }
}

fn read_folder(file: &Path) -> Option<PathBuf> {
    let bytes = project_fs::read_bounded(file, limits::PATH_BYTES_MAX as u64).ok()?;
    let folder = PathBuf::from(String::from_utf8(bytes).ok()?);
    folder.is_dir().then_some(folder)
}

fn record(file: &Path, current: &Path) {
    let Some(folder) = file.parent() else {
        return;
    };
    let path = current.to_string_lossy();
    let written = create_folder(folder).and_then(|()| write_file(file, path.as_bytes()));
    // Best effort, as above.
    if written.is_ok() {
        remove_oldest(folder);
    }
}

/// Removes the files of sessions that never ended, beyond the limit.
fn remove_oldest(folder: &Path) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if files.len() <= limits::HOOK_SESSION_FOLDERS_MAX {
        return;
    }
    files.sort();
    let excess = files.len() - limits::HOOK_SESSION_FOLDERS_MAX;
    for (_, path) in files.into_iter().take(excess) {
        drop(remove_file(&path));
    }
}

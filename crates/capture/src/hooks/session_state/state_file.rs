//! File of a session's state: loaded under a lock; the oldest files are deleted.

use super::HookSessionState;
use heirloom_agents::AgentProgram;
use heirloom_engine::HookStateFolder;
use heirloom_fs::durable;
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{limits, text};
use std::path::Path;

impl HookSessionState {
    /// Loads the state of a session and locks it. A session without an id has an empty state that is not saved.
    ///
    /// If the lock takes too long, the state is used without it; some text may then be injected twice.
    pub(in crate::hooks) fn load(
        memory: &Path,
        host: AgentProgram,
        session: Option<&str>,
    ) -> (Self, Option<durable::Lock>) {
        let Some(session) = session else {
            return (Self::default(), None);
        };
        let folder = HookStateFolder::in_memory(memory);
        if folder.create().is_err() {
            return (Self::default(), None);
        }
        let name = text::hash_parts(&[host.as_str(), session]);
        let lock = folder.path().join(format!("{name}.lock"));
        let is_new = !lock.exists();
        let lock = durable::lock(&lock, limits::HOOK_WAIT_MS);
        if is_new {
            forget_oldest(&folder);
        }
        let path = folder.path().join(format!("{name}.json"));
        let mut state = read(&path).unwrap_or_default();
        state.path = Some(path);
        (state, lock.ok())
    }

    /// Saves the state, best effort.
    pub(in crate::hooks) fn save(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(bytes) = serde_json::to_vec(self) {
            drop(durable::write_unsynced(path, &bytes));
        }
    }
}

/// Reads a stored state; `None` if it is missing or invalid.
pub(super) fn read(path: &Path) -> Option<HookSessionState> {
    let bytes = read_bounded(path, limits::HOOK_SESSION_BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Deletes the oldest states when there are too many; a tenth at once, so that few calls need to scan the folder.
fn forget_oldest(folder: &HookStateFolder) {
    const AT_ONCE: usize = limits::HOOK_SESSIONS_MAX / 10;
    // Each state has a lock file.
    let most = 2 * limits::HOOK_SESSIONS_MAX;
    if folder.paths().len() <= most {
        return;
    }
    let mut files = folder.files();
    files.sort();
    let least = most - 2 * AT_ONCE;
    let surplus = files.len().saturating_sub(least);
    for file in files.iter().take(surplus) {
        drop(durable::remove_if_exists(&file.path));
    }
}

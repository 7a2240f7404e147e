//! File of a session's state: loaded under a lock; the oldest files are deleted.

use super::HookSessionState;
use heirloom_agents::AgentProgram;
use heirloom_engine::HookStateFolder;
use heirloom_fs::durable;
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{limits, text};
use std::path::Path;
use std::time::Duration;

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
        let name = file_stem(host, session);
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

    /// Loads and locks the states of a program's sessions that have a transcript and no end, the newest first. Sessions
    /// that were active lately are left out: they may be running.
    pub(in crate::hooks) fn unfinished(
        memory: &Path,
        host: AgentProgram,
        current: Option<&str>,
    ) -> impl Iterator<Item = (Self, durable::Lock)> {
        let folder = HookStateFolder::in_memory(memory);
        let current = current.map(|session| file_stem(host, session));
        let idle = Duration::from_secs(limits::HOOK_SESSION_IDLE_S);
        let mut files = folder.files();
        files.sort();
        files.into_iter().rev().filter_map(move |file| {
            let path = file.path;
            let stem = path.file_stem()?.to_str()?;
            if path.extension()? != "json" || current.as_deref() == Some(stem) {
                return None;
            }
            let age = path.metadata().ok()?.modified().ok()?.elapsed().ok()?;
            if age < idle {
                return None;
            }
            let lock = durable::try_lock(&path.with_extension("lock")).ok()??;
            let mut state = read(&path)?;
            let is_open = state.program == host.as_str() && !state.is_finished;
            if !is_open || state.transcript.is_none() {
                return None;
            }
            state.path = Some(path);
            Some((state, lock))
        })
    }

    /// Saves the state, best effort.
    pub(in crate::hooks) fn save(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(bytes) = serde_json::to_vec(self) {
            drop(durable::write_unsynced(path, &bytes));
        }
    }
}

/// Returns the name of a session's files without their endings.
fn file_stem(host: AgentProgram, session: &str) -> String {
    text::hash_parts(&[host.as_str(), session])
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

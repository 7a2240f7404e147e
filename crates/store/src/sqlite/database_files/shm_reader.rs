//! Reader of the shared-memory file (`-shm`) of an open database that keeps SQLite's locks on it.
//!
//! POSIX `fcntl` locks of a process on a file are released as soon as the process closes any descriptor of that file,
//! including the locks that SQLite holds: another process would then reset the file while it is in use. So the file
//! is opened once for each process, and closed with the last store of that database. On Windows it is opened for each
//! read.

use super::file_identity::{FileIdentity, file_identity};
use crate::sqlite::database_location::shm_path;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_fs::{file_metadata, positioned_io};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// True if closing a file releases the locks that other handles of this process have on it. On Windows a lock belongs
/// to its handle.
const LOCKS_END_WITH_ANY_HANDLE: bool = cfg!(unix);

/// Databases with open handles in this process.
static OPEN_HANDLES: Mutex<BTreeMap<PathBuf, SharedFiles>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct SharedFiles {
    /// Number of handles.
    handles: usize,
    /// Usually one file; more if another process removed it as the last user and it was created again.
    files: Vec<(FileIdentity, File)>,
}

/// Handle of one store on the shared-memory file. It must outlive the store's connection.
#[derive(Debug)]
pub(in crate::sqlite) struct ShmHandle {
    path: PathBuf,
}

impl ShmHandle {
    /// Creates a handle for the database at `path`.
    pub(in crate::sqlite) fn new(path: &Path) -> Self {
        open_handles().entry(path.to_owned()).or_default().handles += 1;
        Self {
            path: path.to_owned(),
        }
    }

    /// Returns the path of the database.
    pub(in crate::sqlite) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the first bytes of the file; `None` if it is shorter.
    pub(in crate::sqlite) fn read_start(&self, bytes: &mut [u8]) -> Option<()> {
        let mut all = open_handles();
        let shared = all.get_mut(&self.path)?;
        let path = shm_path(&self.path);
        let now = file_identity(&path);
        let known = shared.files.iter().position(|(known, _)| *known == now);
        let at = known.or_else(|| {
            let opened = regular_file::open(&path, LinkPolicy::Follow).ok()?;
            let identity = file_metadata::open_identity(&opened.file, &opened.metadata);
            shared.files.push((identity, opened.file));
            Some(shared.files.len() - 1)
        })?;
        let (_, file) = shared.files.get(at)?;
        let read = positioned_io::read_exact_at(file, bytes, 0).ok();
        if !LOCKS_END_WITH_ANY_HANDLE {
            // An open file could not be replaced by SQLite.
            shared.files.clear();
        }
        read
    }
}

impl Drop for ShmHandle {
    fn drop(&mut self) {
        let mut all = open_handles();
        let Some(shared) = all.get_mut(&self.path) else {
            return;
        };
        shared.handles = shared.handles.saturating_sub(1);
        if shared.handles == 0 {
            all.remove(&self.path);
        }
    }
}

fn open_handles() -> MutexGuard<'static, BTreeMap<PathBuf, SharedFiles>> {
    OPEN_HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A look into what processes share of an open database (`-shm`), without losing SQLite's locks on it.
//!
//! The locks of a process on a file are gone as soon as the process closes any descriptor of that file
//! (POSIX `fcntl`), those that SQLite holds included: another process would then begin anew what is in use.
//! So the file is opened once, and closed when the last store of this process on that database is gone.

use super::open::shared_of;
use super::watch::{Identity, identity, identity_of};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The databases that stores of this process look at.
static LOOKED_AT: Mutex<BTreeMap<PathBuf, Shared>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct Shared {
    /// How many stores look.
    looks: usize,
    /// Usually one; another when the last process that had the database open removed it meanwhile.
    files: Vec<(Identity, File)>,
}

/// One store's look at a database. It must outlive the store's connection.
#[derive(Debug)]
pub(super) struct Look {
    path: PathBuf,
}

impl Look {
    /// A look at the database at `path`.
    pub(super) fn at(path: &Path) -> Self {
        looked_at().entry(path.to_owned()).or_default().looks += 1;
        Self {
            path: path.to_owned(),
        }
    }

    /// The database that is looked at.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the first bytes of what is shared; `None` if there are fewer.
    pub(super) fn begin(&self, bytes: &mut [u8]) -> Option<()> {
        let mut all = looked_at();
        let shared = all.get_mut(&self.path)?;
        let path = shared_of(&self.path);
        let now = identity(&path);
        let known = shared.files.iter().position(|(known, _)| *known == now);
        let at = known.or_else(|| {
            let file = File::open(&path).ok()?;
            shared.files.push((identity_of(&file.metadata()), file));
            Some(shared.files.len() - 1)
        })?;
        let (_, file) = shared.files.get(at)?;
        file.read_exact_at(bytes, 0).ok()
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let mut all = looked_at();
        let Some(shared) = all.get_mut(&self.path) else {
            return;
        };
        shared.looks = shared.looks.saturating_sub(1);
        if shared.looks == 0 {
            all.remove(&self.path);
        }
    }
}

fn looked_at() -> MutexGuard<'static, BTreeMap<PathBuf, Shared>> {
    LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Names of files: renames, second names (hard links), and numbered names that never overwrite a file.

use super::{copy_durable, failed, sync_folder_of};
use crate::{FsError, platform};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Maximum number of names that [`rename_with_suffix`] tries.
const NAMES_MAX: u32 = 10_000;

/// Moves the file at `from` to the unused name `to` on the same file system. Errors: `Io` if `to` exists.
pub fn move_to_free(from: &Path, to: &Path) -> Result<(), FsError> {
    std::fs::hard_link(from, to).map_err(|error| failed("move to", to, error))?;
    sync_folder_of(to)?;
    std::fs::remove_file(from).map_err(|error| failed("remove", from, error))?;
    sync_folder_of(from)
}

/// Renames `from` to `to` on the same file system and syncs both folders. Returns false if `from` does not exist.
///
/// A file at `to` is replaced; the caller makes sure that it does not exist.
pub fn rename_synced(from: &Path, to: &Path) -> Result<bool, FsError> {
    match platform::rename(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound && from.symlink_metadata().is_err() => {
            return Ok(false);
        }
        Err(error) => return Err(failed("rename", from, error)),
    }
    sync_folder_of(from)?;
    sync_folder_of(to)?;
    Ok(true)
}

/// Renames the file at `path` to `<name>.<suffix>` in the same folder and returns the new path.
///
/// Never overwrites: if the name exists, `-2`, `-3`… is appended.
pub fn rename_with_suffix(path: &Path, suffix: &str) -> Result<PathBuf, FsError> {
    let claimed = claim_sibling(path, suffix)?;
    // Renaming over the claimed empty file is atomic. A rename to an unused name could overwrite a file that another
    // process creates in between.
    if let Err(error) = platform::rename(path, &claimed) {
        let left_behind = std::fs::remove_file(&claimed);
        drop(left_behind);
        return Err(failed("rename", path, error));
    }
    sync_folder_of(path)?;
    Ok(claimed)
}

/// Gives the file at `path` a second name `<name>.<suffix>` in the same folder (hard link) and returns its path. If
/// `path` does not exist, returns an unused name of that form.
///
/// Where the file system allows it, the content is not copied, so that the retained file is the original, bit for
/// bit. Never overwrites, as [`rename_with_suffix`].
pub fn link_with_suffix(path: &Path, suffix: &str) -> Result<PathBuf, FsError> {
    for n in 1..=NAMES_MAX {
        let candidate = sibling_path(path, suffix, n);
        if candidate.symlink_metadata().is_ok() {
            continue;
        }
        if path.symlink_metadata().is_err() {
            return Ok(candidate);
        }
        match link_as(path, &candidate) {
            Err(FsError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
            other => return other,
        }
    }
    Err(no_free_name(path))
}

/// Gives the file at `path` the second name `kept`, which must not exist.
pub fn link_as(path: &Path, target: &Path) -> Result<PathBuf, FsError> {
    match std::fs::hard_link(path, target) {
        Ok(()) => sync_folder_of(target)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(failed("create", target, error));
        }
        // Not every file system has hard links.
        Err(_) => copy_durable(path, target)?,
    }
    Ok(target.to_owned())
}

/// Creates an empty private file `<name>.<suffix>` next to `path` under an unused name.
fn claim_sibling(path: &Path, suffix: &str) -> Result<PathBuf, FsError> {
    for n in 1..=NAMES_MAX {
        let candidate = sibling_path(path, suffix, n);
        let mut options = OpenOptions::new();
        match platform::set_private(options.write(true).create_new(true)).open(&candidate) {
            Ok(_) => return Ok(candidate),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed("create", &candidate, error)),
        }
    }
    Err(no_free_name(path))
}

/// Syncs `file` and names it `<name>.<suffix>` next to `path`. Never overwrites, as [`rename_with_suffix`].
pub fn persist_with_suffix(
    file: NamedTempFile,
    path: &Path,
    suffix: &str,
) -> Result<PathBuf, FsError> {
    (file.as_file().sync_all()).map_err(|error| failed("sync", path, error))?;
    let mut file = file;
    for n in 1..=NAMES_MAX {
        let candidate = sibling_path(path, suffix, n);
        match file.persist_noclobber(&candidate) {
            Ok(_) => {
                sync_folder_of(&candidate)?;
                return Ok(candidate);
            }
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(failed("create", &candidate, error.error)),
        }
    }
    Err(no_free_name(path))
}

fn no_free_name(path: &Path) -> FsError {
    let taken = io::Error::new(ErrorKind::AlreadyExists, "every name is taken");
    failed("find an unused name next to", path, taken)
}

pub(super) fn sibling_path(path: &Path, suffix: &str, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    if n > 1 {
        name.push(format!("-{n}"));
    }
    PathBuf::from(name)
}

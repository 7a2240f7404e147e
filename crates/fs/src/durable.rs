//! Durable file operations: the one place that writes files (atomic writes, appends, locks).
//!
//! Files are private (0600; on Windows by the access list of the profile folder) from their first byte, are replaced as a whole or not at all, and have reached the disk
//! when a function returns. A target that is a symbolic link is refused, so that a link planted in a folder cannot
//! make Heirloom write somewhere else.

mod file_names;
pub mod regular_file;

pub use file_names::{
    link_as, link_with_suffix, move_to_free, persist_with_suffix, rename_synced, rename_with_suffix,
};

use crate::{FsError, file_metadata, platform};
use file_names::sibling_path;
use heirloom_model::text::EscapedPath;
use regular_file::LinkPolicy;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;
pub use tempfile::TempDir;
use tempfile::{Builder, NamedTempFile};

/// Maximum number of times that a file may be replaced during an append.
const REPLACED_MAX: u32 = 100;

/// Replaces or creates the file at `path` with `bytes` (atomic write).
///
/// A reader sees the old or the new content, never a part; after `Ok` the new content survives power loss. The folder
/// must exist. Errors: `DiskFull`; `Linked` for a symbolic link; `Io` with the path.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    refuse_symlink("replace", path)?;
    let mut file = create_scratch_file(path)?;
    (file.write_all(bytes)).map_err(|error| failed("write", path, error))?;
    persist(file, path)
}

/// Writes as [`write_atomic`] but without a sync, for content that may be lost in a power failure.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    refuse_symlink("replace", path)?;
    let mut file = create_scratch_file(path)?;
    (file.write_all(bytes)).map_err(|error| failed("write", path, error))?;
    platform::persist(file, path).map_err(|error| failed("replace", path, error))
}

/// Appends `line` to the file at `path` without a sync. A file that has reached `most_bytes` is first renamed to
/// `<name>.1`, replacing an older one.
pub fn append_capped(path: &Path, line: &str, most_bytes: u64) -> Result<(), FsError> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => {
            let no_file = io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
            return Err(failed("append to", path, no_file));
        }
        Ok(found) if found.len() >= most_bytes => {
            let renamed = platform::rename(path, &sibling_path(path, "1", 1));
            renamed.map_err(|error| failed("rename", path, error))?;
        }
        Ok(_) | Err(_) => {}
    }
    let file = open_writing(path, OpenOptions::new().append(true).create(true));
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| failed("append to", path, error))
}

/// Replaces or creates a file that another program owns: follows links and keeps the mode of the file.
///
/// The write is atomic and synced. Errors as for [`write_atomic`], but for links.
pub fn replace_foreign(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    let real = match platform::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(failed("find", path, error)),
    };
    let mut file = create_scratch_file(&real)?;
    (file.write_all(bytes)).map_err(|error| failed("write", &real, error))?;
    if let Ok(found) = real.metadata() {
        platform::copy_permissions(file.as_file(), &found)
            .map_err(|error| failed("keep the mode of", &real, error))?;
    }
    persist(file, &real)
}

/// Copies the file `from` to `to` with the guarantees of [`write_atomic`], whatever its size.
pub fn copy_durable(from: &Path, to: &Path) -> Result<(), FsError> {
    refuse_symlink("replace", to)?;
    let source = open_source(from)?;
    let mut file = create_scratch_file(to)?;
    copy_all(source, file.as_file_mut()).map_err(|error| failed("copy to", to, error))?;
    persist(file, to)
}

/// Appends `bytes` to the file at `path` and syncs it; creates it if it is missing.
///
/// After a crash the file may end in a part of `bytes`. Errors as for [`write_atomic`].
pub fn append_synced(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    refuse_symlink("append to", path)?;
    let is_new = !path.exists();
    let mut file = open_writing(path, OpenOptions::new().append(true).create(true))
        .map_err(|error| failed("append to", path, error))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| failed("append to", path, error))?;
    if is_new { sync_folder_of(path) } else { Ok(()) }
}

/// Appends `bytes` to the file that currently has the name `path` and syncs it; creates it if it is missing.
///
/// If another file takes the name meanwhile, as when an editor saves, `bytes` are appended to that one too. A partial
/// append is truncated again. Errors: those of [`append_synced`]; `Io` if it is not a regular file.
pub fn append_all_or_nothing(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    for _ in 0..REPLACED_MAX {
        refuse_symlink("append to", path)?;
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let no_file = io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
            return Err(failed("append to", path, no_file));
        }
        let mut file = open_writing(path, OpenOptions::new().append(true).create(true))
            .map_err(|error| failed("append to", path, error))?;
        let found = file
            .metadata()
            .map_err(|error| failed("look at", path, error))?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            let taken_back = file.set_len(found.len());
            drop(taken_back);
            return Err(failed("append to", path, error));
        }
        let written = file_metadata::open_identity(&file, &found);
        let is_still = |now: std::fs::Metadata| {
            !now.is_symlink() && file_metadata::found_identity(path, &now) == written
        };
        if path.symlink_metadata().is_ok_and(is_still) {
            return sync_folder_of(path);
        }
    }
    let replaced = io::Error::new(ErrorKind::Interrupted, "it is replaced again and again");
    Err(failed("append to", path, replaced))
}

/// Guard of [`lock`]: holds the file lock until it is dropped or the process ends.
#[derive(Debug)]
#[must_use = "the lock is open again as soon as this is dropped"]
pub struct Lock(File);

/// Takes the lock of the file at `path` and waits for its current holder. The file is created if it is missing and
/// stays empty.
///
/// The lock is advisory. Errors: `Io` if it was held for over `wait_ms`; else as for [`write_atomic`].
pub fn lock(path: &Path, wait_ms: u64) -> Result<Lock, FsError> {
    const PAUSE_MS: u64 = 5;
    for _ in 0..=wait_ms / PAUSE_MS {
        if let Some(lock) = try_lock(path)? {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_millis(PAUSE_MS));
    }
    let held = format!("another process held it for over {wait_ms} ms");
    let held = io::Error::new(ErrorKind::TimedOut, held);
    Err(failed("lock", path, held))
}

/// Takes the lock as [`lock`] does, but returns `None` at once if it is held.
pub fn try_lock(path: &Path) -> Result<Option<Lock>, FsError> {
    refuse_symlink("lock", path)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = open_writing(path, &mut options).map_err(|error| failed("lock", path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed("lock", path, error)),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would release the lock as well; this does it at once.
        drop(self.0.unlock());
    }
}

/// Creates the folder `path` and its missing parents, all private (0700).
///
/// An existing folder keeps its mode.
pub fn create_dir_private(path: &Path) -> Result<(), FsError> {
    let mut builder = DirBuilder::new();
    (platform::set_private_folder(builder.recursive(true)).create(path))
        .map_err(|error| failed("make the folder", path, error))?;
    sync_folder_of(path)
}

/// Creates a private temporary folder (0700) with a unique name, in `within` or else in the system's temporary
/// folder. It is removed when the value is dropped.
pub fn temporary_folder(prefix: &str, within: Option<&Path>) -> Result<TempDir, FsError> {
    let mut builder = Builder::new();
    builder.prefix(prefix);
    platform::set_private_temporary(&mut builder);
    let folder = match within {
        Some(within) => builder.tempdir_in(within),
        None => builder.tempdir(),
    };
    let place = within.map_or_else(std::env::temp_dir, Path::to_owned);
    folder.map_err(|error| failed("make a temporary folder in", &place, error))
}

/// Removes all permissions of group and others from the file or folder at `path`. Returns true if it had any.
///
/// A missing file has none. Errors: `Linked` for a symbolic link; `Io` for a file of another user.
pub fn make_private(path: &Path) -> Result<bool, FsError> {
    refuse_symlink("make private", path)?;
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed("look at", path, error)),
    };
    if !platform::has_group_or_other_access(&found) {
        return Ok(false);
    }
    platform::remove_group_and_other_access(path, &found)
        .map_err(|error| failed("make private", path, error))?;
    Ok(true)
}

/// Removes the file at `path` if it exists.
pub fn remove_if_exists(path: &Path) -> Result<(), FsError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Copies the content of `from` into an open file.
pub fn copy_into(from: &Path, mut to: &File) -> Result<(), FsError> {
    let mut source = open_source(from)?;
    (io::copy(&mut source, &mut to).map(drop)).map_err(|error| failed("copy", from, error))
}

/// Returns true if a file of this name was left by a killed write: `.NAME.XXXXXX.tmp`, or a journal file of such a
/// database.
pub fn is_leftover(name: &str) -> bool {
    let name = ["-wal", "-shm", "-journal"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let inner = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"));
    inner
        .and_then(|inner| inner.rsplit_once('.'))
        .is_some_and(|(base, random)| {
            !base.is_empty()
                && random.len() == 6
                && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Creates a private temporary file in the folder of `path`; it is removed unless it is persisted.
pub fn create_scratch_file(path: &Path) -> Result<NamedTempFile, FsError> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    (Builder::new().prefix(&prefix).suffix(".tmp"))
        .tempfile_in(folder_of(path))
        .map_err(|error| failed("make a temporary file next to", path, error))
}

/// Syncs the folder that holds `path`, so that a rename or a new name in it survives power loss.
pub fn sync_folder_of(path: &Path) -> Result<(), FsError> {
    let folder = folder_of(path);
    platform::sync_folder(folder).map_err(|error| failed("sync the folder", folder, error))
}

/// Refuses a target that is a symbolic link.
pub fn refuse_symlink(action: &'static str, path: &Path) -> Result<(), FsError> {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_symlink() => Err(FsError::Linked {
            action,
            path: path.to_owned(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Converts a failed file operation to the matching error.
pub fn failed(action: &'static str, path: &Path, source: io::Error) -> FsError {
    if matches!(
        source.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    ) {
        return FsError::DiskFull(format!("{action} {}", path.to_escaped()));
    }
    if source.kind() == ErrorKind::ReadOnlyFilesystem {
        return FsError::ReadOnly(path.to_owned());
    }
    if source.kind() == ErrorKind::FileTooLarge {
        return FsError::WriteFailed {
            path: path.to_owned(),
            problem: source.to_string(),
        };
    }
    FsError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Syncs `file` and renames it to `path`, replacing an existing file.
pub fn persist(file: NamedTempFile, path: &Path) -> Result<(), FsError> {
    (file.as_file().sync_all()).map_err(|error| failed("sync", path, error))?;
    platform::persist(file, path).map_err(|error| failed("replace", path, error))?;
    sync_folder_of(path)
}

/// Opens one of our files for writing: follows no link, does not block on a pipe, writes to no device.
fn open_writing(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_file = || io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => return Err(no_file()),
        Ok(_) | Err(_) => {}
    }
    let file = platform::set_guarded(platform::set_private(options), true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(no_file());
    }
    Ok(file)
}

fn open_source(from: &Path) -> Result<File, FsError> {
    let opened = regular_file::open(from, LinkPolicy::Follow);
    let opened = opened.map_err(|problem| failed("read", from, problem.into_io_error()))?;
    Ok(opened.file)
}

fn copy_all(mut from: impl Read, to: &mut File) -> io::Result<()> {
    io::copy(&mut from, to).map(drop)
}

/// Returns the folder that contains `path`.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;

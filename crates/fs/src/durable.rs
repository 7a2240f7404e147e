//! Durable file operations: the one place that writes files (atomic writes, appends, locks).
//!
//! Files are private (0600) from their first byte, are replaced as a whole or not at all, and have reached the disk
//! when a function returns. A target that is a symbolic link is refused, so that a link planted in a folder cannot
//! make Heirloom write somewhere else.

pub mod regular_file;

use crate::FsError;
use heirloom_model::text::EscapedPath;
use regular_file::LinkPolicy;
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use tempfile::TempDir;
use tempfile::{Builder, NamedTempFile};

/// Mode of every file that is created here: readable by its owner only.
const FILE_MODE: u32 = 0o600;
/// Mode of every folder that is created here.
const FOLDER_MODE: u32 = 0o700;
/// Maximum number of names that [`rename_with_suffix`] tries.
const NAMES_MAX: u32 = 10_000;
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
    (file.persist(path)).map_err(|error| failed("replace", path, error.error))?;
    Ok(())
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
            let renamed = std::fs::rename(path, sibling_path(path, "1", 1));
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
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(failed("find", path, error)),
    };
    let mut file = create_scratch_file(&real)?;
    (file.write_all(bytes)).map_err(|error| failed("write", &real, error))?;
    if let Ok(found) = real.metadata() {
        (file.as_file().set_permissions(found.permissions()))
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
        let is_still =
            |now: std::fs::Metadata| (now.dev(), now.ino()) == (found.dev(), found.ino());
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
    match std::fs::rename(from, to) {
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

/// Creates the folder `path` and its missing parents, all private (0700).
///
/// An existing folder keeps its mode.
pub fn create_dir_private(path: &Path) -> Result<(), FsError> {
    let mut builder = DirBuilder::new();
    (builder.recursive(true).mode(FOLDER_MODE).create(path))
        .map_err(|error| failed("make the folder", path, error))?;
    sync_folder_of(path)
}

/// Creates a private temporary folder (0700) with a unique name, in `within` or else in the system's temporary
/// folder. It is removed when the value is dropped.
pub fn temporary_folder(prefix: &str, within: Option<&Path>) -> Result<TempDir, FsError> {
    let mut builder = Builder::new();
    // Without an explicit mode, the umask alone decides who may put files there.
    builder
        .prefix(prefix)
        .permissions(Permissions::from_mode(FOLDER_MODE));
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
    let mode = match path.symlink_metadata() {
        Ok(found) => found.permissions().mode() & 0o7777,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed("look at", path, error)),
    };
    if mode & !FOLDER_MODE == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode & FOLDER_MODE))
        .map_err(|error| failed("make private", path, error))?;
    Ok(true)
}

/// Renames the file at `path` to `<name>.<suffix>` in the same folder and returns the new path.
///
/// Never overwrites: if the name exists, `-2`, `-3`… is appended.
pub fn rename_with_suffix(path: &Path, suffix: &str) -> Result<PathBuf, FsError> {
    let claimed = claim_sibling(path, suffix)?;
    // Renaming over the claimed empty file is atomic. A rename to an unused name could overwrite a file that another
    // process creates in between.
    if let Err(error) = std::fs::rename(path, &claimed) {
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

/// Creates an empty private file `<name>.<suffix>` next to `path` under an unused name.
fn claim_sibling(path: &Path, suffix: &str) -> Result<PathBuf, FsError> {
    for n in 1..=NAMES_MAX {
        let candidate = sibling_path(path, suffix, n);
        let mut options = OpenOptions::new();
        match (options.write(true).create_new(true).mode(FILE_MODE)).open(&candidate) {
            Ok(_) => return Ok(candidate),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed("create", &candidate, error)),
        }
    }
    Err(no_free_name(path))
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
    (File::open(folder).and_then(|folder| folder.sync_all()))
        .map_err(|error| failed("sync the folder", folder, error))
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
    (file.persist(path)).map_err(|error| failed("replace", path, error.error))?;
    sync_folder_of(path)
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

/// Opens one of our files for writing: follows no link, does not block on a pipe, writes to no device.
fn open_writing(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_file = || io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => return Err(no_file()),
        Ok(_) | Err(_) => {}
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.mode(FILE_MODE);
    let file = (options.custom_flags(flags.bits().cast_signed())).open(path)?;
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

fn sibling_path(path: &Path, suffix: &str, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    if n > 1 {
        name.push(format!("-{n}"));
    }
    PathBuf::from(name)
}

/// Returns the folder that contains `path`.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::limits;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn write_atomic_replaces_content_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.json");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(names(folder.path()), ["memory.json"]);
    }

    #[test]
    fn write_to_symbolic_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        let link = folder.path().join("link");
        write_atomic(&outside, b"theirs").unwrap();
        symlink(&outside, &link).unwrap();
        for refused in [
            write_atomic(&link, b"x"),
            copy_durable(&outside, &link),
            append_synced(&link, b"x"),
        ] {
            assert!(matches!(refused, Err(FsError::Linked { path, .. }) if path == link));
        }
        assert_eq!(fs::read(&outside).unwrap(), b"theirs");
    }

    #[test]
    fn lock_waits_until_timeout_and_move_refuses_existing_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = lock(&path, limits::FILE_LOCK_MS).unwrap();
        let second = lock(&path, 20).unwrap_err();
        assert!(second.to_string().contains("over 20 ms"), "{second}");
        drop(first);
        drop(lock(&path, 20).unwrap());
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write_atomic(&from, b"x").unwrap();
        move_to_free(&from, &to).unwrap();
        assert!(!from.exists());
        write_atomic(&from, b"y").unwrap();
        assert!(move_to_free(&from, &to).is_err());
        assert_eq!(
            (fs::read(&from).unwrap(), fs::read(&to).unwrap()),
            (b"y".to_vec(), b"x".to_vec())
        );
    }

    #[test]
    fn created_folders_are_private_and_append_keeps_content() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        create_dir_private(&folder).unwrap();
        create_dir_private(&folder).unwrap();
        assert_eq!(
            (mode(&folder), mode(&root.path().join("a"))),
            (0o700, 0o700)
        );
        let temporary = temporary_folder("x-", Some(root.path())).unwrap();
        assert_eq!(mode(temporary.path()), 0o700);
        let log = folder.join("log");
        append_synced(&log, b"1\n").unwrap();
        append_synced(&log, b"2\n").unwrap();
        assert_eq!(fs::read(&log).unwrap(), b"1\n2\n");
        assert_eq!(mode(&log), 0o600);
    }

    #[test]
    fn append_follows_replaced_file_and_refuses_links() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("notes");
        append_all_or_nothing(&path, b"1\n").unwrap();
        write_atomic(&root.path().join("new"), b"2\n").unwrap();
        assert!(rename_synced(&root.path().join("new"), &path).unwrap());
        append_all_or_nothing(&path, b"3\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2\n3\n");
        assert!(!rename_synced(&root.path().join("new"), &path).unwrap());
        assert!(
            append_all_or_nothing(root.path(), b"x").is_err(),
            "a folder"
        );
        let link = root.path().join("link");
        symlink(&path, &link).unwrap();
        for refused in [
            append_all_or_nothing(&link, b"x"),
            try_lock(&link).map(drop),
        ] {
            assert!(matches!(refused, Err(FsError::Linked { .. })));
        }
    }

    #[test]
    fn lock_has_one_holder() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lock");
        let held = lock(&path, 0).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn make_private_removes_permissions_of_others() {
        let root = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let (folder, file) = (root.path().join("folder"), root.path().join("file"));
        create_dir_private(&folder).unwrap();
        write_atomic(&file, b"x").unwrap();
        for (path, wide, private) in [
            (&folder, 0o755, 0o700),
            (&folder, 0o1777, 0o700),
            (&folder, 0o500, 0o500),
            (&file, 0o644, 0o600),
            (&file, 0o440, 0o400),
            (&file, 0o600, 0o600),
        ] {
            set(path, wide);
            assert_eq!(make_private(path).unwrap(), wide != private);
            assert_eq!(mode(path), private);
        }
        assert!(!make_private(&root.path().join("nothing")).unwrap());
        let link = root.path().join("link");
        symlink(&file, &link).unwrap();
        set(&file, 0o644);
        assert!(matches!(make_private(&link), Err(FsError::Linked { .. })));
        assert_eq!(mode(&file), 0o644);
    }

    #[test]
    fn rename_with_suffix_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heirloom.db");
        for content in ["1", "2", "3"] {
            write_atomic(&path, content.as_bytes()).unwrap();
            let aside = rename_with_suffix(&path, "damaged-x").unwrap();
            assert_eq!(fs::read_to_string(aside).unwrap(), content);
        }
        assert_eq!(
            names(folder.path()),
            [
                "heirloom.db.damaged-x",
                "heirloom.db.damaged-x-2",
                "heirloom.db.damaged-x-3"
            ]
        );
        assert!(rename_with_suffix(&path, "damaged-x").is_err());
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn io_error_contains_action_and_path() {
        let path = Path::new("/nonexistent-folder/file");
        let error = write_atomic(path, b"").unwrap_err().to_string();
        assert!(error.contains("/nonexistent-folder/file"), "{error}");
        let full = io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(failed("write", path, full), FsError::DiskFull(_)));
    }
}

//! The one place that writes files.
//!
//! Files are private (0600) from their first byte, are replaced whole or not at all, and have reached the
//! disk when a function returns. A target that is a symbolic link is refused, so that nothing that was
//! planted in a folder makes Heirloom write somewhere else.

use crate::StoreError;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use tempfile::TempDir;
use tempfile::{Builder, NamedTempFile};

/// Mode of every file that is written here: its owner alone reads it.
const FILE_MODE: u32 = 0o600;
/// Mode of every folder that is made here.
const FOLDER_MODE: u32 = 0o700;
/// Most names that [`set_aside`] tries.
const NAMES_MAX: u32 = 10_000;
/// How often a file may be replaced while something is appended to it.
const REPLACED_MAX: u32 = 100;

/// Replaces or creates the file at `path` with `bytes`.
///
/// A reader sees the old content or the new one, never a part; after `Ok` the new one survives power
/// loss. The folder must exist. Errors: `DiskFull`; `Linked` for a symbolic link; `Io` with the path.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    refuse_symlink("replace", path)?;
    let mut file = scratch(path)?;
    (file.write_all(bytes)).map_err(|error| failed("write", path, error))?;
    settle(file, path)
}

/// As [`write_atomic`], without waiting for the disk: for what may be lost when the power goes.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    refuse_symlink("replace", path)?;
    let mut file = scratch(path)?;
    (file.write_all(bytes)).map_err(|error| failed("write", path, error))?;
    (file.persist(path)).map_err(|error| failed("replace", path, error.error))?;
    Ok(())
}

/// Appends `line` to the file at `path` without waiting for the disk. A file that has reached `most_bytes` becomes
/// `<name>.1` first, in the place of what was called so.
pub fn append_capped(path: &Path, line: &str, most_bytes: u64) -> Result<(), StoreError> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => {
            let no_file = io::Error::new(ErrorKind::InvalidInput, "it is no file");
            return Err(failed("append to", path, no_file));
        }
        Ok(found) if found.len() >= most_bytes => {
            let renamed = std::fs::rename(path, beside(path, "1", 1));
            renamed.map_err(|error| failed("rename", path, error))?;
        }
        Ok(_) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).mode(FILE_MODE).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| failed("append to", path, error))
}

/// Replaces or creates a file that another program owns: through links, and with the mode that it has.
///
/// Whole or not at all, and on the disk when it returns. Errors as for [`write_atomic`], but for links.
pub fn replace_foreign(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(failed("find", path, error)),
    };
    let mut file = scratch(&real)?;
    (file.write_all(bytes)).map_err(|error| failed("write", &real, error))?;
    if let Ok(found) = real.metadata() {
        (file.as_file().set_permissions(found.permissions()))
            .map_err(|error| failed("keep the mode of", &real, error))?;
    }
    settle(file, &real)
}

/// Copies the file `from` to `to` with the promises of [`write_atomic`], whatever its size.
pub fn copy_durable(from: &Path, to: &Path) -> Result<(), StoreError> {
    refuse_symlink("replace", to)?;
    let source = File::open(from).map_err(|error| failed("read", from, error))?;
    let mut file = scratch(to)?;
    copy_all(source, file.as_file_mut()).map_err(|error| failed("copy to", to, error))?;
    settle(file, to)
}

/// Appends `bytes` to the file at `path`, which is created if it is missing; synced when it returns.
///
/// After a crash the file may end in a part of `bytes`. Errors as for [`write_atomic`].
pub fn append_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    refuse_symlink("append to", path)?;
    let is_new = !path.exists();
    let mut options = OpenOptions::new();
    let mut file = (options.append(true).create(true).mode(FILE_MODE).open(path))
        .map_err(|error| failed("append to", path, error))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| failed("append to", path, error))?;
    if is_new { sync_folder_of(path) } else { Ok(()) }
}

/// Appends `bytes` to the file that has the name `path` now, created if it is missing; synced when it returns.
///
/// A file that takes this name in between, as editors replace one, gets them too. What could be written of them in part
/// is taken back. Errors: those of [`append_synced`]; `Io` for what is no file.
pub fn append_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    for _ in 0..REPLACED_MAX {
        refuse_symlink("append to", path)?;
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let no_file = io::Error::new(ErrorKind::InvalidInput, "it is no file");
            return Err(failed("append to", path, no_file));
        }
        let mut options = OpenOptions::new();
        let mut file = (options.append(true).create(true).mode(FILE_MODE).open(path))
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

/// What [`lock`] holds until it is dropped; a process that dies drops it.
#[derive(Debug)]
#[must_use = "the lock is open again as soon as this is dropped"]
pub struct Lock(File);

/// Takes the lock of the file at `path`, which is made if it is missing and stays empty; waits for whoever holds it.
///
/// Only those who ask for it are kept out. Errors: `Io` when it was held for over `wait_ms`; else as for
/// [`write_atomic`].
pub fn lock(path: &Path, wait_ms: u64) -> Result<Lock, StoreError> {
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

/// As [`lock`], without waiting: `None` if somebody else holds it.
pub fn try_lock(path: &Path) -> Result<Option<Lock>, StoreError> {
    refuse_symlink("lock", path)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = (options.mode(FILE_MODE).open(path)).map_err(|error| failed("lock", path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed("lock", path, error)),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file opens the lock as well.
        drop(self.0.unlock());
    }
}

/// Moves the file at `from` to the free name `to` on the same file system. Errors: `Io` if `to` is taken.
pub fn move_to_free(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::hard_link(from, to).map_err(|error| failed("move to", to, error))?;
    sync_folder_of(to)?;
    std::fs::remove_file(from).map_err(|error| failed("remove", from, error))?;
    sync_folder_of(from)
}

/// Gives whatever is at `from` the name `to`, on the same file system; both folders are synced. Whether it was there.
///
/// What has the name `to` is replaced: whoever calls it makes sure that nothing has.
pub fn rename_synced(from: &Path, to: &Path) -> Result<bool, StoreError> {
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

/// Makes the folder `path` and those above it that are missing, all of them private (0700).
///
/// A folder that exists keeps its mode.
pub fn create_dir_private(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    (builder.recursive(true).mode(FOLDER_MODE).create(path))
        .map_err(|error| failed("make the folder", path, error))?;
    sync_folder_of(path)
}

/// Makes a private folder (0700) with a name of its own, for files that are needed for a while; it goes with
/// the value. In the folder `within`, else in the system's for such files.
pub fn temporary_folder(prefix: &str, within: Option<&Path>) -> Result<TempDir, StoreError> {
    let mut builder = Builder::new();
    // Unless it is said, the mask of the process alone decides who may put files there.
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

/// Takes away what anybody but the owner may do with the file or folder at `path`; says whether there was
/// anything to take.
///
/// Nothing there is nothing to take. Errors: `Linked` for a symbolic link; `Io`, for another person's file.
pub fn make_private(path: &Path) -> Result<bool, StoreError> {
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

/// Renames the file at `path` to `<name>.<suffix>` beside itself and returns that path.
///
/// Never overwrites: a name that is taken gets `-2`, `-3`… behind it.
pub fn set_aside(path: &Path, suffix: &str) -> Result<PathBuf, StoreError> {
    let claimed = claim_beside(path, suffix)?;
    // Renaming over the claimed empty file is atomic; renaming to a free name could overwrite a file
    // that another process puts there in between.
    if let Err(error) = std::fs::rename(path, &claimed) {
        let left_behind = std::fs::remove_file(&claimed);
        drop(left_behind);
        return Err(failed("rename", path, error));
    }
    sync_folder_of(path)?;
    Ok(claimed)
}

/// Gives the file at `path` a second name `<name>.<suffix>` beside it and returns that path; if there is no
/// such file, a free name of that form.
///
/// The content is not copied where the file system allows it, so that what is kept is what was there, bit
/// for bit. Never overwrites, as [`set_aside`].
pub(crate) fn keep_beside(path: &Path, suffix: &str) -> Result<PathBuf, StoreError> {
    for n in 1..=NAMES_MAX {
        let candidate = beside(path, suffix, n);
        if candidate.symlink_metadata().is_ok() {
            continue;
        }
        if path.symlink_metadata().is_err() {
            return Ok(candidate);
        }
        match keep_as(path, &candidate) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
            other => return other,
        }
    }
    Err(no_free_name(path))
}

/// Gives the file at `path` the second name `kept`, which must be free.
pub(crate) fn keep_as(path: &Path, kept: &Path) -> Result<PathBuf, StoreError> {
    match std::fs::hard_link(path, kept) {
        Ok(()) => sync_folder_of(kept)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(failed("create", kept, error));
        }
        // Not every file system has second names.
        Err(_) => copy_durable(path, kept)?,
    }
    Ok(kept.to_owned())
}

/// Removes the file at `path` if there is one.
pub fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Copies the content of `from` into an open file.
pub(crate) fn copy_into(from: &Path, mut to: &File) -> Result<(), StoreError> {
    let mut source = File::open(from).map_err(|error| failed("read", from, error))?;
    (io::copy(&mut source, &mut to).map(drop)).map_err(|error| failed("copy", from, error))
}

/// Whether a file of this name is one that a write here leaves behind when it is killed: `.NAME.XXXXXX.tmp`,
/// or a journal of such a database.
pub fn is_left_over(name: &str) -> bool {
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

/// Creates an empty private file `<name>.<suffix>` beside `path` under a name that was free.
fn claim_beside(path: &Path, suffix: &str) -> Result<PathBuf, StoreError> {
    for n in 1..=NAMES_MAX {
        let candidate = beside(path, suffix, n);
        let mut options = OpenOptions::new();
        match (options.write(true).create_new(true).mode(FILE_MODE)).open(&candidate) {
            Ok(_) => return Ok(candidate),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed("create", &candidate, error)),
        }
    }
    Err(no_free_name(path))
}

/// A private temporary file in the folder of `path`; gone again unless it is persisted.
pub(crate) fn scratch(path: &Path) -> Result<NamedTempFile, StoreError> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    (Builder::new().prefix(&prefix).suffix(".tmp"))
        .tempfile_in(folder_of(path))
        .map_err(|error| failed("make a temporary file beside", path, error))
}

/// Syncs the folder that holds `path`, so that a rename or a new name in it survives power loss.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = folder_of(path);
    (File::open(folder).and_then(|folder| folder.sync_all()))
        .map_err(|error| failed("sync the folder", folder, error))
}

/// Refuses a target that is a symbolic link.
pub(crate) fn refuse_symlink(action: &'static str, path: &Path) -> Result<(), StoreError> {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_symlink() => Err(StoreError::Linked {
            action,
            path: path.to_owned(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The store's error for a failed file operation.
pub(crate) fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    if matches!(
        source.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    ) {
        return StoreError::DiskFull(format!("{action} {}", path.display()));
    }
    if source.kind() == ErrorKind::ReadOnlyFilesystem {
        return StoreError::ReadOnly(path.to_owned());
    }
    if source.kind() == ErrorKind::FileTooLarge {
        return StoreError::WriteFailed {
            path: path.to_owned(),
            problem: source.to_string(),
        };
    }
    StoreError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// Syncs `file` and puts it at `path`, replacing what is there.
pub(crate) fn settle(file: NamedTempFile, path: &Path) -> Result<(), StoreError> {
    (file.as_file().sync_all()).map_err(|error| failed("sync", path, error))?;
    (file.persist(path)).map_err(|error| failed("replace", path, error.error))?;
    sync_folder_of(path)
}

/// Syncs `file` and gives it the name `<name>.<suffix>` beside `path`. Never overwrites, as [`set_aside`].
pub(crate) fn settle_beside(
    file: NamedTempFile,
    path: &Path,
    suffix: &str,
) -> Result<PathBuf, StoreError> {
    (file.as_file().sync_all()).map_err(|error| failed("sync", path, error))?;
    let mut file = file;
    for n in 1..=NAMES_MAX {
        let candidate = beside(path, suffix, n);
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

fn no_free_name(path: &Path) -> StoreError {
    let taken = io::Error::new(ErrorKind::AlreadyExists, "every name is taken");
    failed("find a free name beside", path, taken)
}

fn copy_all(mut from: impl Read, to: &mut File) -> io::Result<()> {
    io::copy(&mut from, to).map(drop)
}

fn beside(path: &Path, suffix: &str, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    if n > 1 {
        name.push(format!("-{n}"));
    }
    PathBuf::from(name)
}

/// The folder that holds `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
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
    fn an_atomic_write_replaces_whole_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.json");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(names(folder.path()), ["memory.json"]);
    }

    #[test]
    fn a_symbolic_link_is_never_written_through() {
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
            assert!(matches!(refused, Err(StoreError::Linked { path, .. }) if path == link));
        }
        assert_eq!(fs::read(&outside).unwrap(), b"theirs");
    }

    #[test]
    fn one_at_a_time_has_a_lock_and_nobody_waits_for_good() {
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
    fn folders_are_private_and_appended_files_grow() {
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
    fn what_is_appended_is_behind_what_the_name_means() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("notes");
        append_whole(&path, b"1\n").unwrap();
        write_atomic(&root.path().join("new"), b"2\n").unwrap();
        assert!(rename_synced(&root.path().join("new"), &path).unwrap());
        append_whole(&path, b"3\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2\n3\n");
        assert!(!rename_synced(&root.path().join("new"), &path).unwrap());
        assert!(append_whole(root.path(), b"x").is_err(), "a folder");
        let link = root.path().join("link");
        symlink(&path, &link).unwrap();
        for refused in [append_whole(&link, b"x"), try_lock(&link).map(drop)] {
            assert!(matches!(refused, Err(StoreError::Linked { .. })));
        }
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lock");
        let held = lock(&path, 0).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn what_others_may_do_is_taken_away() {
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
        assert!(matches!(
            make_private(&link),
            Err(StoreError::Linked { .. })
        ));
        assert_eq!(mode(&file), 0o644);
    }

    #[test]
    fn setting_aside_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heirloom.db");
        for content in ["1", "2", "3"] {
            write_atomic(&path, content.as_bytes()).unwrap();
            let aside = set_aside(&path, "damaged-x").unwrap();
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
        assert!(set_aside(&path, "damaged-x").is_err());
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn errors_name_the_action_and_the_path() {
        let path = Path::new("/nonexistent-folder/file");
        let error = write_atomic(path, b"").unwrap_err().to_string();
        assert!(error.contains("/nonexistent-folder/file"), "{error}");
        let full = io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(
            failed("write", path, full),
            StoreError::DiskFull(_)
        ));
    }
}

//! Folder handle of Unix: every name is opened relative to the descriptor of its folder.

use super::{EntryType, SafeOpenProblem};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// An open folder.
#[derive(Debug)]
pub(super) struct FolderHandle(OwnedFd);

impl FolderHandle {
    /// Opens the folder at a path, through links.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, path, flags, Mode::empty())?))
    }

    /// Duplicates the handle.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Returns the type of an entry, not through links.
    pub(super) fn entry_type(&self, name: &OsStr) -> Result<EntryType, SafeOpenProblem> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).map_err(problem)?;
        Ok(entry_type(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Returns the target of a link.
    pub(super) fn read_link(&self, name: &OsStr) -> Result<PathBuf, SafeOpenProblem> {
        let target = readlinkat(&self.0, name, Vec::new()).map_err(problem)?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// Opens a folder in this folder; fails for a link.
    pub(super) fn open_folder(&self, name: &OsStr) -> Result<Self, SafeOpenProblem> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&self.0, name, flags, Mode::empty()).map_err(problem)?;
        Ok(Self(folder))
    }

    /// Opens a file in this folder; fails for a link. The file may have been replaced, so the caller checks its type.
    pub(super) fn open_file(&self, name: &OsStr) -> Result<File, SafeOpenProblem> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&self.0, name, flags, Mode::empty())
            .map(File::from)
            .map_err(problem)
    }

    /// Lists names and types of the entries; a name that is not UTF-8 is `None`.
    pub(super) fn entries(
        &self,
    ) -> Result<impl Iterator<Item = (Option<String>, EntryType)>, SafeOpenProblem> {
        let entries = Dir::read_from(&self.0).map_err(problem)?;
        let entries = entries.map_while(Result::ok);
        Ok(entries.filter_map(|entry| {
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                return None;
            }
            let Ok(name) = std::str::from_utf8(bytes) else {
                return Some((None, EntryType::Other("something else")));
            };
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            Some((Some(name.to_owned()), entry_type(kind)))
        }))
    }
}

fn entry_type(found: FileType) -> EntryType {
    match found {
        FileType::Directory => EntryType::Folder,
        FileType::RegularFile => EntryType::File,
        FileType::Symlink => EntryType::Link,
        FileType::Fifo => EntryType::Other("a named pipe"),
        FileType::Socket => EntryType::Other("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => EntryType::Other("a device"),
        FileType::Unknown => EntryType::Other("something else"),
    }
}

fn problem(error: Errno) -> SafeOpenProblem {
    match error {
        Errno::NOENT | Errno::NOTDIR => SafeOpenProblem::Missing,
        Errno::NAMETOOLONG | Errno::INVAL => SafeOpenProblem::InvalidName,
        // A link was created here in the meantime.
        Errno::LOOP => SafeOpenProblem::NoFile("something else by now"),
        other => SafeOpenProblem::Unreadable(other.into()),
    }
}

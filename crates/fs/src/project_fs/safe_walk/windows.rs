//! Folder handle of Windows: the folder cannot be renamed, deleted or turned into a junction while it is open.
//!
//! There is no opening relative to a handle in the standard library. Instead every folder of the way is opened without
//! sharing of writes and deletions, so its path leads to the same folder as long as the handle exists.

use super::{EntryType, SafeOpenProblem};
use crate::platform::{BACKUP_SEMANTICS, OPEN_REPARSE_POINT, canonicalize};
use std::ffi::OsStr;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Allows other programs to read (`FILE_SHARE_READ`).
const SHARE_READ: u32 = 1;

/// An open folder.
#[derive(Debug)]
pub(super) struct FolderHandle {
    folder: File,
    path: PathBuf,
}

impl FolderHandle {
    /// Opens the folder at a path, through links.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = canonicalize(path)?;
        let folder = open_shared(&path)?;
        match folder.metadata()?.is_dir() {
            true => Ok(Self { folder, path }),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// Duplicates the handle.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            folder: self.folder.try_clone()?,
            path: self.path.clone(),
        })
    }

    /// Returns the type of an entry, not through links.
    pub(super) fn entry_type(&self, name: &OsStr) -> Result<EntryType, SafeOpenProblem> {
        let found = self.entry_path(name)?.symlink_metadata().map_err(problem)?;
        Ok(entry_type(found.file_type()))
    }

    /// Returns the target of a link.
    pub(super) fn read_link(&self, name: &OsStr) -> Result<PathBuf, SafeOpenProblem> {
        std::fs::read_link(self.entry_path(name)?).map_err(problem)
    }

    /// Opens a folder in this folder; fails for a link.
    pub(super) fn open_folder(&self, name: &OsStr) -> Result<Self, SafeOpenProblem> {
        let path = self.entry_path(name)?;
        let folder = open_shared(&path).map_err(problem)?;
        match folder.metadata().map_err(problem)?.is_dir() {
            true => Ok(Self { folder, path }),
            false => Err(SafeOpenProblem::NoFile("something else by now")),
        }
    }

    /// Opens a file in this folder. The file may have been replaced, also by a link, so the caller checks its type.
    pub(super) fn open_file(&self, name: &OsStr) -> Result<File, SafeOpenProblem> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OPEN_REPARSE_POINT);
        options.open(self.entry_path(name)?).map_err(problem)
    }

    /// Lists names and types of the entries; a name that is not Unicode is `None`.
    pub(super) fn entries(
        &self,
    ) -> Result<impl Iterator<Item = (Option<String>, EntryType)>, SafeOpenProblem> {
        let entries = std::fs::read_dir(&self.path).map_err(problem)?;
        Ok(entries.map_while(Result::ok).map(|entry| {
            let kind = entry.file_type();
            let kind = kind.map_or(EntryType::Other("something else"), entry_type);
            (entry.file_name().into_string().ok(), kind)
        }))
    }

    /// Returns the path of an entry. A name with a colon is a stream of a file or on another drive.
    fn entry_path(&self, name: &OsStr) -> Result<PathBuf, SafeOpenProblem> {
        match name.to_string_lossy().contains(':') {
            true => Err(SafeOpenProblem::InvalidName),
            false => Ok(self.path.join(name)),
        }
    }
}

/// Opens a folder, or a link itself, so that others can only read it meanwhile.
fn open_shared(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .share_mode(SHARE_READ)
        .custom_flags(BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
        .open(path)
}

fn entry_type(found: FileType) -> EntryType {
    // Junctions count as links.
    if found.is_symlink_dir() || found.is_symlink_file() || found.is_symlink() {
        EntryType::Link
    } else if found.is_dir() {
        EntryType::Folder
    } else if found.is_file() {
        EntryType::File
    } else {
        EntryType::Other("something else")
    }
}

fn problem(error: io::Error) -> SafeOpenProblem {
    let kind = error.kind();
    if matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return SafeOpenProblem::Missing;
    }
    match matches!(kind, ErrorKind::InvalidFilename | ErrorKind::InvalidInput) {
        true => SafeOpenProblem::InvalidName,
        false => SafeOpenProblem::Unreadable(error),
    }
}

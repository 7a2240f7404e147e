//! Access to files below one folder that no symbolic link can redirect, even if links change concurrently.
//!
//! Each name of a path is opened in the folder that was opened before it, and links are resolved here and never by
//! the system. So the inspected file is the opened file, without a race.

use super::canonical;
use super::project_path::resolve;
use heirloom_model::limits::{FOLDER_DEPTH_MAX, LINKS_MAX, PATH_BYTES_MAX};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// A folder that restricts access to the files below it.
#[derive(Debug)]
pub struct SafeFolder {
    folder: OwnedFd,
    path: PathBuf,
}

/// An open regular file.
#[derive(Debug)]
pub struct OpenFile {
    /// File handle for reading.
    pub file: File,
    /// Path below the folder, without links, with `/`.
    pub path: String,
    /// Size in bytes when it was opened.
    pub size_bytes: u64,
}

/// Error of opening a file or folder.
#[derive(Debug, thiserror::Error)]
pub enum SafeOpenProblem {
    /// The file does not exist.
    #[error("there is no such file")]
    Missing,
    /// The path is outside of the folder, or leads out of it.
    #[error("it is outside of the project")]
    Outside,
    /// The path has too many links, or a loop.
    #[error("it goes through more than {LINKS_MAX} symbolic links")]
    TooManyLinks,
    /// The path has the wrong file type, such as a folder or a device.
    #[error("it is {0}, not a file")]
    NoFile(&'static str),
    /// The path is that of a file where a folder is needed.
    #[error("it is a file, not a folder")]
    NoFolder,
    /// The name contains a NUL or is too long for any file.
    #[error("no file can have this name")]
    InvalidName,
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// The folder has more entries than the limit.
    #[error("there are more than {0} files and folders to look at")]
    TooMany(usize),
}

/// Type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file, a link, or another type.
    Other,
}

/// Visitor of a walk: sees the entries in the order of their names, a folder before its content.
pub trait FolderVisitor {
    /// State of a folder.
    type State;
    /// Visits an entry of a folder with the state `place`. `path` is relative to the start of the walk. Returns the
    /// state of the entry if it is a folder to be entered.
    fn visit(&mut self, place: &Self::State, path: &str, entry: EntryKind) -> Option<Self::State>;
}

/// Target of a path.
enum Found {
    Folder(OwnedFd),
    File(OpenFile),
}

impl SafeFolder {
    /// Opens the folder at `root`.
    pub fn new(root: &Path) -> io::Result<Self> {
        let path = canonical(root);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Self { folder, path })
    }

    /// Opens the regular file at `path`, which is relative to the folder, or absolute and inside of it.
    ///
    /// Only folders and regular files are ever opened: no device, no pipe.
    pub fn file(&self, path: &str) -> Result<OpenFile, SafeOpenProblem> {
        match self.find(path)? {
            Found::File(file) => Ok(file),
            Found::Folder(_) => Err(SafeOpenProblem::NoFile("a folder")),
        }
    }

    /// Walks the folder at `path` in the order of names. Links are not followed, and names that are not UTF-8 are
    /// skipped.
    ///
    /// Errors: those of opening the folder at `path`; `TooMany` beyond `most` entries. A nested folder that cannot be
    /// read is skipped.
    pub fn walk<V: FolderVisitor>(
        &self,
        path: &str,
        start: &V::State,
        most: usize,
        visitor: &mut V,
    ) -> Result<(), SafeOpenProblem> {
        let Found::Folder(folder) = self.find(path)? else {
            return Err(SafeOpenProblem::NoFolder);
        };
        let mut walk = Walk {
            left: most,
            most,
            visitor,
        };
        walk.below(folder.as_fd(), "", 0, start)
    }

    fn find(&self, path: &str) -> Result<Found, SafeOpenProblem> {
        if path.contains('\0') || path.len() > PATH_BYTES_MAX {
            return Err(SafeOpenProblem::InvalidName);
        }
        let path = Path::new(path);
        let mut left = self.below(path)?;
        let mut way: Vec<(OwnedFd, OsString)> = Vec::new();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            if name == ".." {
                way.pop().ok_or(SafeOpenProblem::Outside)?;
                continue;
            }
            let here = way.last().map_or(self.folder.as_fd(), |(fd, _)| fd.as_fd());
            let stat = statat(here, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(problem)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(SafeOpenProblem::TooManyLinks);
                    }
                    let target = readlinkat(here, &name, Vec::new()).map_err(problem)?;
                    let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                    if target.is_absolute() {
                        way.clear();
                    }
                    for name in self.below(&target)?.into_iter().rev() {
                        left.push_front(name);
                    }
                }
                FileType::Directory => {
                    let fd = open_folder(here, &name).map_err(problem)?;
                    way.push((fd, name));
                }
                FileType::RegularFile if left.is_empty() => {
                    return open_file(here, &name, &way).map(Found::File);
                }
                FileType::RegularFile => return Err(SafeOpenProblem::Missing),
                other @ (FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown) => return Err(SafeOpenProblem::NoFile(kind(other))),
            }
        }
        let folder = match way.pop() {
            Some((fd, _)) => fd,
            None => self
                .folder
                .try_clone()
                .map_err(SafeOpenProblem::Unreadable)?,
        };
        Ok(Found::Folder(folder))
    }

    /// Returns the names in a path; for an absolute path those below the folder.
    fn below(&self, path: &Path) -> Result<VecDeque<OsString>, SafeOpenProblem> {
        let resolved;
        let path = match path.strip_prefix(&self.path) {
            Ok(inside) => inside,
            Err(_) if path.is_absolute() => {
                resolved = resolve(path).ok_or(SafeOpenProblem::TooManyLinks)?;
                let inside = resolved.strip_prefix(&self.path);
                inside.map_err(|_| SafeOpenProblem::Outside)?
            }
            Err(_) => path,
        };
        let parts = path.components();
        let names =
            parts.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
        Ok(names.map(|part| part.as_os_str().to_owned()).collect())
    }
}

/// State of a walk with its remaining entries.
struct Walk<'v, V> {
    left: usize,
    most: usize,
    visitor: &'v mut V,
}

impl<V: FolderVisitor> Walk<'_, V> {
    fn below(
        &mut self,
        folder: BorrowedFd<'_>,
        path: &str,
        depth: usize,
        place: &V::State,
    ) -> Result<(), SafeOpenProblem> {
        for (name, entry) in self.entries(folder)? {
            let inside = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            let Some(next) = self.visitor.visit(place, &inside, entry) else {
                continue;
            };
            if entry != EntryKind::Folder || depth == FOLDER_DEPTH_MAX {
                continue;
            }
            // The folder may be deleted or unreadable; it is skipped then.
            if let Ok(fd) = open_folder(folder, OsStr::new(&name)) {
                self.below(fd.as_fd(), &inside, depth + 1, &next)?;
            }
        }
        Ok(())
    }

    fn entries(
        &mut self,
        folder: BorrowedFd<'_>,
    ) -> Result<Vec<(String, EntryKind)>, SafeOpenProblem> {
        let mut found = Vec::new();
        for entry in Dir::read_from(folder).map_err(problem)? {
            let Ok(entry) = entry else { break };
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            self.left = self
                .left
                .checked_sub(1)
                .ok_or(SafeOpenProblem::TooMany(self.most))?;
            let Ok(name) = std::str::from_utf8(bytes) else {
                continue;
            };
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            let kind = if kind == FileType::Directory {
                EntryKind::Folder
            } else {
                EntryKind::Other
            };
            found.push((name.to_owned(), kind));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

fn open_folder(here: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(here, name, flags, Mode::empty())
}

fn open_file(
    here: BorrowedFd<'_>,
    name: &OsStr,
    way: &[(OwnedFd, OsString)],
) -> Result<OpenFile, SafeOpenProblem> {
    // The file may have been replaced: open without blocking, and check the type of the opened file.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(here, name, flags, Mode::empty()).map_err(problem)?);
    let meta = file.metadata().map_err(SafeOpenProblem::Unreadable)?;
    if !meta.is_file() {
        return Err(SafeOpenProblem::NoFile("something else by now"));
    }
    let names = way.iter().map(|(_, name)| name.as_os_str()).chain([name]);
    let names: Vec<_> = names
        .map(|name| String::from_utf8_lossy(name.as_bytes()))
        .collect();
    Ok(OpenFile {
        file,
        path: names.join("/"),
        size_bytes: meta.len(),
    })
}

fn kind(of: FileType) -> &'static str {
    match of {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Directory => "a folder",
        FileType::RegularFile | FileType::Symlink | FileType::Unknown => "something else",
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

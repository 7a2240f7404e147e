//! Files below one folder, opened so that no link leads out of it, whatever changes in the meantime.
//!
//! Each name on the way is opened in the folder that was opened before it, and links are never followed by the
//! system but read and walked here. So what was looked at is what is opened: there is no moment in between.

use super::inside::resolve;
use super::real;
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

/// A folder below which files are opened.
#[derive(Debug)]
pub struct Beneath {
    folder: OwnedFd,
    path: PathBuf,
}

/// An open file, which is a regular one.
#[derive(Debug)]
pub struct OpenFile {
    /// The file, to be read.
    pub file: File,
    /// Its path below the folder, without links, with `/`.
    pub path: String,
    /// Its size when it was opened.
    pub size_bytes: u64,
}

/// Why a file or folder is not opened.
#[derive(Debug, thiserror::Error)]
pub enum BeneathProblem {
    /// There is nothing of this name.
    #[error("there is no such file")]
    Missing,
    /// It is, or leads, outside.
    #[error("it is outside of the project")]
    Outside,
    /// It goes through too many links, or in a circle.
    #[error("it goes through more than {LINKS_MAX} symbolic links")]
    TooManyLinks,
    /// It is something else than it must be: a folder, a device.
    #[error("it is {0}, not a file")]
    NoFile(&'static str),
    /// Its name holds a NUL or is too long for any file.
    #[error("no file can have this name")]
    NoName,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// More files and folders than are looked at.
    #[error("there are more than {0} files and folders to look at")]
    TooMany(usize),
}

/// What somebody may do with an entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A folder.
    Folder,
    /// A file, a link, or something else.
    Other,
}

/// What a walk meets, in order of names, a folder before what is in it.
pub trait Visitor {
    /// Where one stands.
    type Place;
    /// An entry of the folder `place`, whose path below the walk's folder is `path`; where one stands in it if
    /// it is a folder that is to be entered.
    fn visit(&mut self, place: &Self::Place, path: &str, entry: Entry) -> Option<Self::Place>;
}

/// What a walk through names leads to.
enum Found {
    Folder(OwnedFd),
    File(OpenFile),
}

impl Beneath {
    /// The folder at `root`.
    pub fn new(root: &Path) -> io::Result<Self> {
        let path = real(root);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Self { folder, path })
    }

    /// The regular file at `path`: relative to the folder, or absolute and inside of it.
    ///
    /// Nothing but folders and regular files is ever opened: no device, no pipe.
    pub fn file(&self, path: &str) -> Result<OpenFile, BeneathProblem> {
        match self.find(path)? {
            Found::File(file) => Ok(file),
            Found::Folder(_) => Err(BeneathProblem::NoFile("a folder")),
        }
    }

    /// Shows `visitor` what is below the folder at `path`, in order of names. Links are not followed, and names
    /// that are no UTF-8 not shown.
    ///
    /// Errors: those of opening the folder at `path`; `TooMany` beyond `most` entries. A folder further down
    /// that cannot be read is passed over.
    pub fn walk<V: Visitor>(
        &self,
        path: &str,
        start: &V::Place,
        most: usize,
        visitor: &mut V,
    ) -> Result<(), BeneathProblem> {
        let Found::Folder(folder) = self.find(path)? else {
            return Err(BeneathProblem::NoFile("a file and no folder"));
        };
        let mut walk = Walk {
            left: most,
            most,
            visitor,
        };
        walk.below(folder.as_fd(), "", 0, start)
    }

    fn find(&self, path: &str) -> Result<Found, BeneathProblem> {
        if path.contains('\0') || path.len() > PATH_BYTES_MAX {
            return Err(BeneathProblem::NoName);
        }
        let path = Path::new(path);
        let mut left = self.below(path)?;
        let mut way: Vec<(OwnedFd, OsString)> = Vec::new();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            if name == ".." {
                way.pop().ok_or(BeneathProblem::Outside)?;
                continue;
            }
            let here = way.last().map_or(self.folder.as_fd(), |(fd, _)| fd.as_fd());
            let stat = statat(here, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(problem)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(BeneathProblem::TooManyLinks);
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
                FileType::RegularFile => return Err(BeneathProblem::Missing),
                other @ (FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown) => return Err(BeneathProblem::NoFile(kind(other))),
            }
        }
        let folder = match way.pop() {
            Some((fd, _)) => fd,
            None => self
                .folder
                .try_clone()
                .map_err(BeneathProblem::Unreadable)?,
        };
        Ok(Found::Folder(folder))
    }

    /// The names in a path; of an absolute one those below the folder.
    fn below(&self, path: &Path) -> Result<VecDeque<OsString>, BeneathProblem> {
        let resolved;
        let path = match path.strip_prefix(&self.path) {
            Ok(inside) => inside,
            Err(_) if path.is_absolute() => {
                resolved = resolve(path).ok_or(BeneathProblem::TooManyLinks)?;
                let inside = resolved.strip_prefix(&self.path);
                inside.map_err(|_| BeneathProblem::Outside)?
            }
            Err(_) => path,
        };
        let parts = path.components();
        let names =
            parts.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
        Ok(names.map(|part| part.as_os_str().to_owned()).collect())
    }
}

/// A walk that has some entries left.
struct Walk<'v, V> {
    left: usize,
    most: usize,
    visitor: &'v mut V,
}

impl<V: Visitor> Walk<'_, V> {
    fn below(
        &mut self,
        folder: BorrowedFd<'_>,
        path: &str,
        depth: usize,
        place: &V::Place,
    ) -> Result<(), BeneathProblem> {
        for (name, entry) in self.entries(folder)? {
            let inside = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            let Some(next) = self.visitor.visit(place, &inside, entry) else {
                continue;
            };
            if entry != Entry::Folder || depth == FOLDER_DEPTH_MAX {
                continue;
            }
            // It may be gone, or another's: what cannot be entered is passed over.
            if let Ok(fd) = open_folder(folder, OsStr::new(&name)) {
                self.below(fd.as_fd(), &inside, depth + 1, &next)?;
            }
        }
        Ok(())
    }

    fn entries(&mut self, folder: BorrowedFd<'_>) -> Result<Vec<(String, Entry)>, BeneathProblem> {
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
                .ok_or(BeneathProblem::TooMany(self.most))?;
            let Ok(name) = std::str::from_utf8(bytes) else {
                continue;
            };
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            let kind = if kind == FileType::Directory {
                Entry::Folder
            } else {
                Entry::Other
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
) -> Result<OpenFile, BeneathProblem> {
    // Something else may stand here by now: nothing is waited for, and what was opened is looked at again.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(here, name, flags, Mode::empty()).map_err(problem)?);
    let meta = file.metadata().map_err(BeneathProblem::Unreadable)?;
    if !meta.is_file() {
        return Err(BeneathProblem::NoFile("something else by now"));
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

fn problem(error: Errno) -> BeneathProblem {
    match error {
        Errno::NOENT | Errno::NOTDIR => BeneathProblem::Missing,
        Errno::NAMETOOLONG | Errno::INVAL => BeneathProblem::NoName,
        // A link that was put here since.
        Errno::LOOP => BeneathProblem::NoFile("something else by now"),
        other => BeneathProblem::Unreadable(other.into()),
    }
}

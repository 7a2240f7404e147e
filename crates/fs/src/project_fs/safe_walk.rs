//! Access to files below one folder that no symbolic link can redirect, even if links change concurrently.
//!
//! Each name of a path is opened in the folder that was opened before it, and links are resolved here and never by
//! the system. So the inspected file is the opened file, without a race.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::canonical;
use super::project_path::{resolve, root_of};
use heirloom_model::limits::{FOLDER_DEPTH_MAX, LINKS_MAX, PATH_BYTES_MAX};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
#[cfg(unix)]
use unix::FolderHandle;
#[cfg(windows)]
use windows::FolderHandle;

/// A folder that restricts access to the files below it.
#[derive(Debug)]
pub struct SafeFolder {
    folder: FolderHandle,
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

/// Type of a directory entry, not through links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryType {
    Folder,
    File,
    Link,
    /// Another type with its name for people.
    Other(&'static str),
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
    Folder(FolderHandle),
    File(OpenFile),
}

impl SafeFolder {
    /// Opens the folder at `root`.
    pub fn new(root: &Path) -> io::Result<Self> {
        let path = canonical(root);
        let folder = FolderHandle::open(&path)?;
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
        walk.below(&folder, "", 0, start)
    }

    fn find(&self, path: &str) -> Result<Found, SafeOpenProblem> {
        if path.contains('\0') || path.len() > PATH_BYTES_MAX {
            return Err(SafeOpenProblem::InvalidName);
        }
        let path = Path::new(path);
        let mut left = self.below(path)?;
        let mut way: Vec<(FolderHandle, OsString)> = Vec::new();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            if name == ".." {
                way.pop().ok_or(SafeOpenProblem::Outside)?;
                continue;
            }
            let here = way.last().map_or(&self.folder, |(folder, _)| folder);
            match here.entry_type(&name)? {
                EntryType::Link => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(SafeOpenProblem::TooManyLinks);
                    }
                    let target = here.read_link(&name)?;
                    if !root_of(&target).as_os_str().is_empty() {
                        way.clear();
                    }
                    for name in self.below(&target)?.into_iter().rev() {
                        left.push_front(name);
                    }
                }
                EntryType::Folder => {
                    let folder = here.open_folder(&name)?;
                    way.push((folder, name));
                }
                EntryType::File if left.is_empty() => {
                    return open_file(here, &name, &way).map(Found::File);
                }
                EntryType::File => return Err(SafeOpenProblem::Missing),
                EntryType::Other(kind) => return Err(SafeOpenProblem::NoFile(kind)),
            }
        }
        let folder = match way.pop() {
            Some((folder, _)) => folder,
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
            Err(_) if !root_of(path).as_os_str().is_empty() => {
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
        folder: &FolderHandle,
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
            if let Ok(folder) = folder.open_folder(OsStr::new(&name)) {
                self.below(&folder, &inside, depth + 1, &next)?;
            }
        }
        Ok(())
    }

    fn entries(
        &mut self,
        folder: &FolderHandle,
    ) -> Result<Vec<(String, EntryKind)>, SafeOpenProblem> {
        let mut found = Vec::new();
        for (name, kind) in folder.entries()? {
            self.left = self
                .left
                .checked_sub(1)
                .ok_or(SafeOpenProblem::TooMany(self.most))?;
            let Some(name) = name else {
                continue;
            };
            let kind = match kind {
                EntryType::Folder => EntryKind::Folder,
                EntryType::File | EntryType::Link | EntryType::Other(_) => EntryKind::Other,
            };
            found.push((name, kind));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

fn open_file(
    here: &FolderHandle,
    name: &OsStr,
    way: &[(FolderHandle, OsString)],
) -> Result<OpenFile, SafeOpenProblem> {
    // The file may have been replaced: check the type of the opened file.
    let file = here.open_file(name)?;
    let meta = file.metadata().map_err(SafeOpenProblem::Unreadable)?;
    if !meta.is_file() {
        return Err(SafeOpenProblem::NoFile("something else by now"));
    }
    let names = way.iter().map(|(_, name)| name.as_os_str()).chain([name]);
    let names: Vec<_> = names.map(OsStr::to_string_lossy).collect();
    Ok(OpenFile {
        file,
        path: names.join("/"),
        size_bytes: meta.len(),
    })
}

//! Reading of text files below a folder, without following links out of it.

use super::file_digest::{DigestProblem, open};
use super::{PathProblem, normalise_project_path};
use crate::file_metadata;
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;

/// Metadata that identifies a version of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStat {
    /// Modification time, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Inode, on Windows the time of creation: a file that replaces another one has a different one, unless the old one
    /// was deleted before.
    pub inode: u64,
    /// Creation time, nanoseconds since 1970; 0 if the file system does not provide it.
    pub born_ns: u64,
}

/// A text with the metadata of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// Metadata of the file before it was read.
    pub stat: FileStat,
}

/// Error of reading a text file.
#[derive(Debug, thiserror::Error)]
pub enum TextProblem {
    /// The file does not exist.
    #[error("there is no such file")]
    Missing,
    /// The path is outside of the folder.
    #[error("{0}")]
    Path(#[from] PathProblem),
    /// The path is not a file, is too large, or cannot be read.
    #[error("{0}")]
    File(DigestProblem),
    /// The file is not UTF-8 text.
    #[error("it is not UTF-8 text")]
    Binary,
    /// The file came with the project, and no person has trusted it.
    #[error("it came with the project and is not used yet: `heirloom trust` shows it")]
    Untrusted,
}

/// Reads the text of the file `relative` below `folder`, which may have at most `bytes_max` bytes.
///
/// A link that stays below the folder is followed. Never blocks: a named pipe or a device is not a file.
pub fn read_text(folder: &Path, relative: &str, bytes_max: u64) -> Result<TextFile, TextProblem> {
    let inside = normalise_project_path(folder, relative)?;
    let opened = open(&folder.join(inside));
    let (file, size) = opened.map_err(|problem| match problem {
        DigestProblem::Missing => TextProblem::Missing,
        DigestProblem::NotRegularFile
        | DigestProblem::TooLarge(_)
        | DigestProblem::Unreadable(_) => TextProblem::File(problem),
    })?;
    let unreadable = |error| TextProblem::File(DigestProblem::Unreadable(error));
    if size > bytes_max {
        return Err(TextProblem::File(DigestProblem::TooLarge(size)));
    }
    let stat = of(&file.metadata().map_err(unreadable)?);
    // One byte more than the file has, so that the end is found without another allocation.
    let expected = usize::try_from(size).map_or(0, |size| size.saturating_add(1));
    let mut bytes = Vec::with_capacity(expected);
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let read = bytes.len() as u64;
    if read > bytes_max {
        return Err(TextProblem::File(DigestProblem::TooLarge(read)));
    }
    let text = String::from_utf8(bytes).map_err(|_| TextProblem::Binary)?;
    if text.contains('\0') {
        return Err(TextProblem::Binary);
    }
    Ok(TextFile { text, stat })
}

/// Returns the metadata of the file at `path`, through links, without opening it; `None` if there is no file.
pub fn file_stat(path: &Path) -> Option<FileStat> {
    path.metadata().ok().map(|found| of(&found))
}

fn of(found: &Metadata) -> FileStat {
    let (seconds, nanoseconds) = file_metadata::modified_time(found);
    let born = found.created().ok();
    let born = born.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    FileStat {
        modified_ns: seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds),
        size_bytes: found.len(),
        inode: file_metadata::version_number(found),
        born_ns: born.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)),
    }
}

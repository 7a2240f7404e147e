//! Text files that people edit below a folder, read without being led astray.

use super::digest::{DigestProblem, open};
use super::{PathProblem, normalise_inside};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What tells without reading it whether a file is the one that it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStat {
    /// When it was written, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its size.
    pub size_bytes: u64,
    /// Its number in the file system: a file that took its place has another, unless the old one was gone before.
    pub inode: u64,
    /// When it was made, nanoseconds since 1970; 0 where the file system does not say.
    pub born_ns: u64,
}

/// A text, and the file that it was in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// The file as it was before it was read.
    pub stat: FileStat,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum TextProblem {
    /// There is none.
    #[error("there is no such file")]
    Missing,
    /// It is not inside its folder.
    #[error("{0}")]
    Path(#[from] PathProblem),
    /// It is no file, is too large, or cannot be read.
    #[error("{0}")]
    File(DigestProblem),
    /// It has other bytes than those of a text.
    #[error("it is no text in UTF-8")]
    Binary,
}

/// The text of the file `relative` below `folder`, which may have at most `bytes_max` bytes.
///
/// A link that stays below the folder is followed. Nothing is waited for: a named pipe or a device is no file.
pub fn read_text(folder: &Path, relative: &str, bytes_max: u64) -> Result<TextFile, TextProblem> {
    let inside = normalise_inside(folder, relative)?;
    let opened = open(&folder.join(inside));
    let (file, size) = opened.map_err(|problem| match problem {
        DigestProblem::Missing => TextProblem::Missing,
        DigestProblem::NoFile | DigestProblem::TooLarge(_) | DigestProblem::Unreadable(_) => {
            TextProblem::File(problem)
        }
    })?;
    let unreadable = |error| TextProblem::File(DigestProblem::Unreadable(error));
    if size > bytes_max {
        return Err(TextProblem::File(DigestProblem::TooLarge(size)));
    }
    let stat = of(&file.metadata().map_err(unreadable)?);
    let mut bytes = Vec::new();
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

/// What is at `path`, through links, without opening it; `None` if there is nothing.
pub fn stat(path: &Path) -> Option<FileStat> {
    path.metadata().ok().map(|found| of(&found))
}

fn of(found: &Metadata) -> FileStat {
    let seconds = found.mtime().saturating_mul(1_000_000_000);
    let born = found.created().ok();
    let born = born.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    FileStat {
        modified_ns: seconds.saturating_add(found.mtime_nsec()),
        size_bytes: found.len(),
        inode: found.ino(),
        born_ns: born.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)),
    }
}

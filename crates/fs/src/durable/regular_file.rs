//! Bounded, non-blocking reads of regular files.
//!
//! The one place that opens a file for reading by a name that this program did not generate. Such a name may lead to
//! a named pipe, a device, or an endless or huge file: each of them is refused at once, and no file is read beyond a
//! limit.

use crate::platform;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Treatment of a symbolic link that is the last part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Follow the link.
    Follow,
    /// Treat the link as not a regular file.
    Refuse,
}

/// An open regular file.
#[derive(Debug)]
pub struct RegularFile {
    /// Open file, positioned at its beginning.
    pub file: File,
    /// Metadata of the open file.
    pub metadata: Metadata,
}

/// Reason why a file is not opened or read.
#[derive(Debug, thiserror::Error)]
pub enum FileReadError {
    /// The file does not exist.
    #[error("there is no such file")]
    Missing,
    /// The path is a folder, a link, a named pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegularFile,
    /// The file has more bytes than the limit.
    #[error("it has {0} bytes, more than the limit")]
    TooLarge(u64),
    /// Opening or reading failed.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
}

/// Opens the regular file at `path` for reading.
///
/// Checks the type before opening, because opening a device may have effects, and again on the open file, because
/// another one may have taken the name in between.
pub fn open(path: &Path, links: LinkPolicy) -> Result<RegularFile, FileReadError> {
    let found = match links {
        LinkPolicy::Follow => path.metadata(),
        LinkPolicy::Refuse => path.symlink_metadata(),
    };
    if !found.map_err(problem)?.is_file() {
        return Err(FileReadError::NotRegularFile);
    }
    // Otherwise opening would block on a named pipe, and a terminal would become the controlling one.
    let mut options = OpenOptions::new();
    let guarded = platform::set_guarded(options.read(true), links == LinkPolicy::Refuse);
    let file = guarded.open(path).map_err(problem)?;
    let found = file.metadata().map_err(FileReadError::Unreadable)?;
    if !found.is_file() {
        return Err(FileReadError::NotRegularFile);
    }
    Ok(RegularFile {
        file,
        metadata: found,
    })
}

/// Reads the regular file at `path`, which may have at most `bytes_max` bytes.
///
/// Errors: those of [`open`]; `TooLarge`, before reading if the size of the file already exceeds the limit.
pub fn read(path: &Path, links: LinkPolicy, bytes_max: u64) -> Result<Vec<u8>, FileReadError> {
    open(path, links)?.read(bytes_max)
}

/// Reads the file at `path` as [`read`] does; invalid UTF-8 becomes `\u{fffd}`.
pub fn read_text(path: &Path, links: LinkPolicy, bytes_max: u64) -> Result<String, FileReadError> {
    let bytes = read(path, links, bytes_max)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl RegularFile {
    /// Returns the size of the file when it was opened.
    pub fn size(&self) -> u64 {
        self.metadata.len()
    }

    /// Reads the rest of the file, which may have at most `bytes_max` bytes.
    pub fn read(mut self, bytes_max: u64) -> Result<Vec<u8>, FileReadError> {
        let size = self.size();
        if size > bytes_max {
            return Err(FileReadError::TooLarge(size));
        }
        // Files that the system generates, such as those in /proc, report the size 0 or a wrong one.
        let mut bytes = Vec::new();
        let read = (&mut self.file)
            .take(bytes_max.saturating_add(1))
            .read_to_end(&mut bytes);
        read.map_err(FileReadError::Unreadable)?;
        let size = bytes.len() as u64;
        if size > bytes_max {
            return Err(FileReadError::TooLarge(size));
        }
        Ok(bytes)
    }
}

impl FileReadError {
    /// Converts the error to an [`io::Error`].
    pub fn into_io_error(self) -> io::Error {
        let kind = match &self {
            Self::Missing => ErrorKind::NotFound,
            Self::NotRegularFile => ErrorKind::InvalidInput,
            Self::TooLarge(_) => ErrorKind::FileTooLarge,
            Self::Unreadable(error) => error.kind(),
        };
        match self {
            Self::Unreadable(error) => error,
            Self::Missing | Self::NotRegularFile | Self::TooLarge(_) => {
                io::Error::new(kind, self.to_string())
            }
        }
    }
}

fn problem(error: io::Error) -> FileReadError {
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return FileReadError::Missing;
    }
    match platform::is_no_file(&error) {
        true => FileReadError::NotRegularFile,
        false => FileReadError::Unreadable(error),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::durable::{temporary_folder, write_atomic};
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    use std::time::{Duration, Instant};

    #[test]
    fn pipe_device_and_folder_are_refused_without_waiting() {
        let folder = temporary_folder("regular-", None).unwrap();
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        mknodat(CWD, at("socket"), FileType::Socket, Mode::RUSR, 0).unwrap();
        symlink("pipe", at("to-pipe")).unwrap();
        symlink("/dev/zero", at("to-zero")).unwrap();
        let began = Instant::now();
        for name in ["pipe", "socket", "to-pipe", "to-zero", "."] {
            for links in [LinkPolicy::Follow, LinkPolicy::Refuse] {
                let read = read(&at(name), links, 1_000);
                assert!(
                    matches!(read, Err(FileReadError::NotRegularFile)),
                    "{name}: {read:?}"
                );
            }
        }
        assert!(began.elapsed() < Duration::from_secs(1));
        assert!(matches!(
            read(&at("none"), LinkPolicy::Follow, 1),
            Err(FileReadError::Missing)
        ));
    }

    #[test]
    fn oversized_file_is_refused_by_metadata_and_by_read_bytes() {
        let folder = temporary_folder("regular-", None).unwrap();
        let path = folder.path().join("a");
        write_atomic(&path, b"four").unwrap();
        assert_eq!(read(&path, LinkPolicy::Refuse, 4).unwrap(), b"four");
        assert!(matches!(
            read(&path, LinkPolicy::Refuse, 3),
            Err(FileReadError::TooLarge(4))
        ));
        // A sparse file of ten gigabytes.
        let sparse = folder.path().join("sparse");
        let file = File::create_new(&sparse).unwrap();
        file.set_len(10 << 30).unwrap();
        let began = Instant::now();
        let read_sparse = read(&sparse, LinkPolicy::Follow, 1 << 30);
        assert!(matches!(read_sparse, Err(FileReadError::TooLarge(size)) if size == 10 << 30));
        assert!(began.elapsed() < Duration::from_secs(1));
        // Files in /proc report the size 0.
        let made_up = Path::new("/proc/self/maps");
        if made_up.exists() {
            let found = read(made_up, LinkPolicy::Follow, 10);
            assert!(
                matches!(found, Err(FileReadError::TooLarge(11))),
                "{found:?}"
            );
        }
    }

    #[test]
    fn link_is_followed_only_with_follow() {
        let folder = temporary_folder("regular-", None).unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        write_atomic(&path, b"text\xff").unwrap();
        symlink("a", &link).unwrap();
        assert_eq!(
            read_text(&link, LinkPolicy::Follow, 9).unwrap(),
            "text\u{fffd}"
        );
        let refused = read(&link, LinkPolicy::Refuse, 9);
        assert!(
            matches!(refused, Err(FileReadError::NotRegularFile)),
            "{refused:?}"
        );
    }
}

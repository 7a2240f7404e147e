//! The size and the checksum of a file, read once from its beginning to its end.

use rustix::fs::OFlags;
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// What tells whether a file is the one that it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256, hexadecimal.
    pub checksum: String,
}

/// Why a file has no digest.
#[derive(Debug, thiserror::Error)]
pub enum DigestProblem {
    /// There is nothing of this name.
    #[error("there is no such file")]
    Missing,
    /// It is a folder, a link or a device.
    #[error("it is no file")]
    NoFile,
    /// It is larger than what is read.
    #[error("it has {0} bytes, more than are read")]
    TooLarge(u64),
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
}

/// The size and SHA-256 of the file at `path`, which may have at most `bytes_max` bytes.
///
/// Links are not followed and nothing is waited for: a named pipe is no file. A file that grows while it is read
/// counts as far as it was read.
pub fn digest(path: &Path, bytes_max: u64) -> Result<FileDigest, DigestProblem> {
    let (mut file, size) = open(path)?;
    if size > bytes_max {
        return Err(DigestProblem::TooLarge(size));
    }
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut size_bytes = 0;
    loop {
        let read = match file.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(DigestProblem::Unreadable(error)),
        };
        if read == 0 {
            break;
        }
        size_bytes += read as u64;
        if size_bytes > bytes_max {
            return Err(DigestProblem::TooLarge(size_bytes));
        }
        hasher.update(&chunk[..read]);
    }
    let checksum = hasher.finalize();
    Ok(FileDigest {
        size_bytes,
        checksum: checksum.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// The size of the file at `path`; as for [`digest`], without reading it.
pub fn file_size(path: &Path) -> Result<u64, DigestProblem> {
    open(path).map(|(_, size)| size)
}

/// The file at `path` and its size; links are not followed, nothing is waited for.
pub fn open(path: &Path) -> Result<(File, u64), DigestProblem> {
    // Not waiting: opening a named pipe would otherwise wait for a writer.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    let opened = (options.read(true))
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = opened.map_err(problem)?;
    let meta = file.metadata().map_err(DigestProblem::Unreadable)?;
    if !meta.is_file() {
        return Err(DigestProblem::NoFile);
    }
    Ok((file, meta.len()))
}

fn problem(error: io::Error) -> DigestProblem {
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return DigestProblem::Missing;
    }
    // A link, or a socket.
    let no_file = [Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
    match error.raw_os_error() {
        Some(raw) if no_file.contains(&raw) => DigestProblem::NoFile,
        Some(_) | None => DigestProblem::Unreadable(error),
    }
}

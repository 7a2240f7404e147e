//! Size and checksum of a file, read in one pass.

pub use crate::durable::regular_file::FileReadError as DigestProblem;
use crate::durable::regular_file::{self, LinkPolicy};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Size of a read in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Size and checksum, which identify the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256, in hexadecimal.
    pub checksum: String,
}

/// Returns the size and SHA-256 of the file at `path`, which may have at most `bytes_max` bytes.
///
/// Does not follow links and never blocks: a named pipe is not a file. A file that grows meanwhile is digested up to
/// the end that was read.
pub fn digest_file(path: &Path, bytes_max: u64) -> Result<FileDigest, DigestProblem> {
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

/// Returns the size of the file at `path` with the rules of [`digest_file`], without reading it.
pub fn file_size(path: &Path) -> Result<u64, DigestProblem> {
    open(path).map(|(_, size)| size)
}

/// Opens the file at `path`; returns it with its size. Does not follow links and never blocks.
pub fn open(path: &Path) -> Result<(File, u64), DigestProblem> {
    let opened = regular_file::open(path, LinkPolicy::Refuse)?;
    let size = opened.size();
    Ok((opened.file, size))
}

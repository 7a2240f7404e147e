//! A file of a project, read whole.

use super::digest::{DigestProblem, open};
use std::io::Read;
use std::path::Path;

/// The bytes of the file at `path`, which may have at most `bytes_max`.
///
/// As [`super::digest`]: links are not followed, and a named pipe or a device is never waited for.
pub fn whole_file(path: &Path, bytes_max: u64) -> Result<Vec<u8>, DigestProblem> {
    let (file, size) = open(path)?;
    if size > bytes_max {
        return Err(DigestProblem::TooLarge(size));
    }
    let mut bytes = Vec::new();
    let read = file
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes);
    read.map_err(DigestProblem::Unreadable)?;
    let size = bytes.len() as u64;
    if size > bytes_max {
        return Err(DigestProblem::TooLarge(size));
    }
    Ok(bytes)
}

//! Bounded reads of whole files.

use super::file_digest::DigestProblem;
use crate::durable::regular_file::{self, LinkPolicy};
use std::path::Path;

/// Reads the file at `path`, which may have at most `bytes_max` bytes.
///
/// As [`super::digest_file`], it does not follow links and never blocks on a named pipe or a device.
pub fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>, DigestProblem> {
    regular_file::read(path, LinkPolicy::Refuse, bytes_max)
}

/// Reads the file at `path` as [`read_bounded`] does, but follows links: for files that a user named, and for the
/// user's own files that may be links, such as config files in a folder of dotfiles.
pub fn read_bounded_following_links(path: &Path, bytes_max: u64) -> Result<Vec<u8>, DigestProblem> {
    regular_file::read(path, LinkPolicy::Follow, bytes_max)
}

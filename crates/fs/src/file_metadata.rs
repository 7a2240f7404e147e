//! Metadata of files that the standard library has for some platforms only.

use crate::platform;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Device and inode of a file; on Windows its volume and file index.
pub type FileIdentity = (u64, u64);

/// Returns the identity of the file that has this path now, through links; `None` if it does not exist.
pub fn path_identity(path: &Path) -> Option<FileIdentity> {
    found_identity(path, &path.metadata().ok()?)
}

/// Returns the identity of the file with the metadata `found`, which were read through links at `path`.
///
/// On Windows the file is opened for it, because its metadata do not have the identity.
pub fn found_identity(path: &Path, found: &Metadata) -> Option<FileIdentity> {
    platform::file_identity(path, found)
}

/// Returns the identity of an open file with the metadata `found`.
pub fn open_identity(file: &File, found: &Metadata) -> Option<FileIdentity> {
    platform::open_file_identity(file, found)
}

/// Returns a number by which a file usually differs from the one that it replaced: its inode, on Windows its time of
/// creation.
pub fn version_number(found: &Metadata) -> u64 {
    platform::version_number(found)
}

/// Returns the time of the last change of the content: seconds since 1970 and nanoseconds.
pub fn modified_time(found: &Metadata) -> (i64, i64) {
    platform::modified_time(found)
}

/// Returns the time of the last change of content, mode or names: seconds since 1970 and nanoseconds. On Windows only
/// changes of the content count.
pub fn changed_time(found: &Metadata) -> (i64, i64) {
    platform::changed_time(found)
}

/// True if files have permission bits.
pub const HAS_MODE_BITS: bool = platform::HAS_MODE_BITS;

/// Returns the permission bits; on Windows, which has none, zero.
pub fn mode_bits(found: &Metadata) -> u32 {
    platform::mode_bits(found)
}

/// Returns the bytes on the file system of a folder that are free for this user.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    platform::free_bytes(folder)
}

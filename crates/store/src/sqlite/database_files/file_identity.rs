//! Identity of a file: finds out that another file has taken its name.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device and inode of a file; `None` if it does not exist.
pub(in crate::sqlite) type FileIdentity = Option<(u64, u64)>;

/// Returns the identity of the file that has this name now.
pub(in crate::sqlite) fn file_identity(path: &Path) -> FileIdentity {
    metadata_identity(&path.metadata())
}

/// Returns the identity of the file that was looked at.
pub(in crate::sqlite) fn metadata_identity(found: &io::Result<Metadata>) -> FileIdentity {
    let found = found.as_ref().ok()?;
    Some((found.dev(), found.ino()))
}

//! Identity of a file: finds out that another file has taken its name.

use heirloom_fs::file_metadata;
use std::fs::Metadata;
use std::io;
use std::path::Path;

/// Device and inode of a file; `None` if it does not exist.
pub(in crate::sqlite) type FileIdentity = Option<file_metadata::FileIdentity>;

/// Returns the identity of the file that has this name now.
pub(in crate::sqlite) fn file_identity(path: &Path) -> FileIdentity {
    file_metadata::path_identity(path)
}

/// Returns the identity of the file with the metadata that were found at `path`.
pub(in crate::sqlite) fn metadata_identity(
    path: &Path,
    found: &io::Result<Metadata>,
) -> FileIdentity {
    file_metadata::found_identity(path, found.as_ref().ok()?)
}

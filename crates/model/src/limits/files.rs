//! Limits of files and paths.

/// Longest accepted path, bytes.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Maximum number of symbolic links in the resolution of one path.
pub const LINKS_MAX: usize = 40;
/// Maximum size of a git metadata file, bytes.
pub const GIT_FILE_BYTES_MAX: u64 = 1 << 20;

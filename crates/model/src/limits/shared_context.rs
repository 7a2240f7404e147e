//! Limits of imports of shared context.

/// Maximum size of a shared context file, bytes.
pub const SHARED_FILE_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of files in one import of shared context.
pub const SHARED_FILES_MAX: usize = 1_000;
/// Maximum folder depth of an import of shared context.
pub const SHARED_FOLDER_DEPTH_MAX: usize = 8;
/// Longest summary of a file of shared context, characters.
pub const SHARED_SUMMARY_CHARS_MAX: usize = 200;

//! Limits of files, paths, configuration, and imports.

use super::records::RECORD_TEXT_BYTES_MAX;

/// Longest accepted path, bytes.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Maximum number of symbolic links in the resolution of one path.
pub const LINKS_MAX: usize = 40;
/// Maximum size of a git metadata file, bytes.
pub const GIT_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum size of an import file, bytes.
pub const IMPORT_BYTES_MAX: u64 = 1 << 30;
/// Maximum size of a file of another tool that `init` probes on its own, bytes.
pub const INIT_PROBE_BYTES_MAX: u64 = 64 << 20;
/// Largest config file, bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of `--set` options of one call.
pub const SET_FLAGS_MAX: usize = 100;
/// Longest line of standard input that is read as one record, bytes: the longest text, escaped.
pub const STDIN_LINE_BYTES_MAX: usize = 4 * RECORD_TEXT_BYTES_MAX;
/// Maximum size of a shared context file, bytes.
pub const SHARED_FILE_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of files in one import of shared context.
pub const SHARED_FILES_MAX: usize = 1_000;
/// Maximum folder depth of an import of shared context.
pub const SHARED_FOLDER_DEPTH_MAX: usize = 8;
/// Longest summary of a file of shared context, characters.
pub const SHARED_SUMMARY_CHARS_MAX: usize = 200;

//! Limits of the documents about a project in a context: plans, architecture, and the tree of tracked files.

/// Maximum number of tracked files in a project's outline.
pub const TRACKED_FILES_MAX: usize = 50_000;
/// Maximum number of bytes that are read from the end of git's log of a work tree's head.
pub const GIT_REFLOG_BYTES_MAX: u64 = 256 << 10;
/// Maximum size of a git index, bytes.
pub const GIT_INDEX_BYTES_MAX: u64 = 16 << 20;
/// Folder depth of a project's outline.
pub const TREE_DEPTH: usize = 3;
/// Maximum number of names in one line of that outline.
pub const TREE_NAMES_MAX: usize = 30;
/// Maximum size of a plan file or architecture document in a context, bytes.
pub const PROJECT_FILE_BYTES_MAX: u64 = 256 << 10;
/// Maximum number of files of one plan, and of architecture documents, that a context reads.
pub const PLAN_FILES_MAX: usize = 20;
/// Maximum number of entries read from a plan folder.
pub const PLAN_FOLDER_ENTRIES_MAX: usize = 1_000;
/// Longest goal of a plan, characters.
pub const PLAN_GOAL_CHARS_MAX: usize = 1_000;

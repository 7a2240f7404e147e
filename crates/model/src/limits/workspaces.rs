//! Limits of workspace files and team memory.

/// Maximum size of a file of a workspace or of team memory, bytes.
pub const WORKSPACE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of files in one folder of a workspace or of team memory.
pub const WORKSPACE_FILES_MAX: usize = 1_000;
/// Maximum number of bullets and headings of all these files that become records.
pub const WORKSPACE_ITEMS_MAX: usize = 50_000;
/// Default size of one workspace file in a prompt, characters.
pub const WORKSPACE_FILE_CHARS_DEFAULT: usize = 4_000;
/// Largest accepted size of one workspace file in a prompt, characters.
pub const WORKSPACE_FILE_CHARS_MAX: usize = 1_000_000;
/// Default number of days before a daily log is archived.
pub const WORKSPACE_DAYS_DEFAULT: u32 = 7;
/// Number of newest lines of the learnings file in a prompt.
pub const WORKSPACE_LEARNING_LINES: usize = 20;
/// Size of a workspace file above which its oldest entries are moved to the archive, bytes.
pub const WORKSPACE_ARCHIVE_AT_BYTES: usize = 64 << 10;
/// Longest entry that a writer adds to a workspace file, bytes.
pub const WORKSPACE_ENTRY_BYTES_MAX: usize = 16 << 10;
/// Maximum size of the workspace index file, bytes.
pub const WORKSPACE_INDEX_BYTES_MAX: u64 = 32 << 20;
/// Number of previous versions of workspace files that are kept for undo.
pub const WORKSPACE_HISTORY_FILES: usize = 500;
/// Maximum total size of these versions, bytes.
pub const WORKSPACE_HISTORY_BYTES_MAX: u64 = 64 << 20;
/// Lock timeout of files that people edit too, milliseconds.
pub const FILE_LOCK_MS: u64 = 10_000;
/// Maximum number of pairs of old and new entries under one heading that are compared to detect edits.
pub const WORKSPACE_PAIRS_MAX: usize = 10_000;
/// Longest file name in team memory, bytes.
pub const TEAM_FILE_NAME_BYTES_MAX: usize = 200;

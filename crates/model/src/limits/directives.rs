//! Limits of directives of invocations.

/// Longest accepted invocation, bytes.
pub const INVOCATION_BYTES_MAX: usize = 64 << 10;
/// Maximum number of directives of one invocation.
pub const DIRECTIVES_MAX: usize = 50;
/// Maximum number of files that one invocation injects, and of names of one `input`.
pub const DIRECTIVE_FILES_MAX: usize = 100;
/// Maximum size of an injected file, bytes.
pub const DIRECTIVE_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum total size of the files that one invocation reads, bytes.
pub const DIRECTIVE_TOTAL_BYTES_MAX: u64 = 8 << 20;
/// Maximum number of lines of an agent's output that `tail` injects.
pub const DIRECTIVE_TAIL_LINES_MAX: usize = 10_000;
/// Length of the excerpt of an invocation in an error message, characters.
pub const DIRECTIVE_SHOWN_CHARS: usize = 72;
/// Maximum number of files and folders that one pattern visits.
pub const DIRECTIVE_ENTRIES_MAX: usize = 100_000;
/// Maximum number of files and folders visited to suggest the nearest match of a missing file.
pub const DIRECTIVE_NEAR_ENTRIES_MAX: usize = 5_000;
/// Maximum folder depth of a walk through a project.
pub const FOLDER_DEPTH_MAX: usize = 64;

//! Limits of transcripts of agent programs.

/// Longest line of a transcript, bytes; a longer one is skipped.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 32 << 20;
/// Maximum size of a transcript, bytes; a compressed one is limited both packed and unpacked.
pub const TRANSCRIPT_BYTES_MAX: u64 = 2 << 30;
/// Maximum compression ratio of a transcript, beyond the size that every one may have
/// ([`TRANSCRIPT_VALUE_BYTES_MAX`]).
pub const TRANSCRIPT_PACKED_RATIO_MAX: u64 = 100;
/// Maximum size of a transcript that is one JSON value, bytes.
pub const TRANSCRIPT_VALUE_BYTES_MAX: u64 = 64 << 20;
/// Leading bytes of a transcript that are searched for its session and folder.
pub const TRANSCRIPT_HEAD_BYTES_MAX: usize = 4 << 20;
/// Bytes at the beginning of a transcript in which the header is searched, with the lines that are too long to be read.
pub const TRANSCRIPT_FIRST_LINES_BYTES_MAX: u64 = 256 << 20;
/// Maximum number of files that one transcript import visits.
pub const TRANSCRIPT_FILES_MAX: usize = 20_000;
/// Number of folders in which projects were seen, such as worktrees, that are remembered for imports; the oldest are
/// dropped.
pub const SEEN_FOLDERS_MAX: usize = 500;
/// Number of folders that an import names as former folders of the project.
pub const FORMER_FOLDERS_SHOWN_MAX: usize = 5;
/// Longest prompt or answer of a transcript that is stored whole, characters.
pub const TRANSCRIPT_TEXT_CHARS_MAX: usize = 16_000;
/// Longest tool result that is stored whole, characters; of a longer one the beginning and the end are stored.
pub const TRANSCRIPT_RESULT_CHARS_MAX: usize = 600;
/// Longest description of a tool call, characters.
pub const TRANSCRIPT_CALL_CHARS_MAX: usize = 400;
/// Characters of the removed and of the added text of one edit that lessons are taken from.
pub const TRANSCRIPT_EDIT_CHARS_MAX: usize = 4_000;
/// Number of items of a plan or to-do list in a tool call.
pub const TRANSCRIPT_PLAN_ITEMS_MAX: usize = 100;
/// Number of changes of one conversation's task list that are followed.
pub const TRANSCRIPT_TASK_CHANGES_MAX: usize = 2_000;
/// Number of queued prompts of a conversation that wait for their delivery.
pub const TRANSCRIPT_QUEUED_PROMPTS_MAX: usize = 50;
/// Number of newest failures of a conversation that wait for a fix.
pub const TRANSCRIPT_FAILURES_MAX: usize = 32;
/// Number of tool calls of a conversation that wait for their results.
pub const TRANSCRIPT_CALLS_MAX: usize = 1_000;
/// Maximum number of imports of one growing transcript that are distinguished.
pub const TRANSCRIPT_MARKS_MAX: usize = 32;
/// Maximum number of changes of one conversation that are buffered before a write.
pub const TRANSCRIPT_BUFFERED_CHANGES_MAX: usize = 2_000;

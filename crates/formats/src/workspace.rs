//! Markdown files that people and agents both edit: file names, entries, index, and the files of a team's memory.
//!
//! Pure: text in, text and values out.

mod file_edits;
mod team_files;
mod workspace_index;
mod workspace_layout;

pub use file_edits::{append_entry, newest_part, render_entry, split_oldest_entries};
pub use team_files::{TeamEntry, TeamFile, category_file_name, category_of_file_name};
pub use workspace_index::{EntryLocation, FileStamp, WorkspaceIndex};
pub use workspace_layout::{
    ARCHIVE_FOLDER, FIXED_FILES, FixedFile, LEARNINGS_FILE, MEMORY_FILE, archive_path,
    archived_path, daily_log_date, daily_log_path, file_category,
};

//! Group memory as text: names of groups, entries of `MEMORY.md`, and requests in inbox files.

mod entry;
mod group_name;
mod inbox;
mod summary;

pub use entry::{
    ExpectedEntry, GroupEntry, RestorePolicy, has_entry, missing_entries, render_addition,
    split_at_headings,
};
pub use group_name::check_group_name;
pub use inbox::{InboxRequest, parse_request};
pub use summary::upsert_summary;

/// Default group.
pub const GROUP_DEFAULT: &str = "main";
/// Default section of a note.
pub const SECTION_DEFAULT: &str = "Notes";
/// Default author of a note.
pub const AGENT_DEFAULT: &str = "unknown";

//! Groups as text: their names, the entries of `MEMORY.md`, what a file in the inbox asks for.

mod entry;
mod inbox;
mod name;
mod summary;

pub use entry::{Candidate, ComesBack, Entry, addition, blocks, is_there, missing};
pub use inbox::{Ask, read_ask};
pub use name::check_group;
pub use summary::with_summary;

/// The group when nothing is said.
pub const GROUP_DEFAULT: &str = "main";
/// The section of a note when nothing is said.
pub const SECTION_DEFAULT: &str = "Notes";
/// Who notes something when nothing is said.
pub const AGENT_DEFAULT: &str = "unknown";

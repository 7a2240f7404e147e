//! The Markdown files that people and agents both edit: their names, their entries, what of them is known, and the
//! files of a team's memory.
//!
//! Pure: text in, text and values out.

mod edit;
mod index;
mod layout;
mod team;

pub use edit::{entry, moved_out, newest, with_entry};
pub use index::{Index, Place, Seen};
pub use layout::{ARCHIVE, LEARNINGS, MEMORY, PAGES, Page, about, archive_of, daily, day_of};
pub use team::{TeamEntry, TeamPage, category_of, file_of};

//! Scan of workspace files: their entries before they are compared with records.

use heirloom_formats::workspace::{EntryLocation, FileStamp, TeamEntry};
use std::collections::{BTreeMap, HashSet};

/// Content of all files.
#[derive(Default)]
pub(super) struct FileScan {
    pub(super) wants: Vec<FileEntry>,
    pub(super) teams: Vec<TeamFileEntry>,
    /// Unreadable files; their records stay.
    pub(super) unread: HashSet<String>,
    /// Stamps of all files.
    pub(super) files: BTreeMap<String, FileStamp>,
    pub(super) notes: Vec<String>,
}

/// Entry of a file that should be a record.
pub(super) struct FileEntry {
    pub(super) digest: String,
    pub(super) place: EntryLocation,
    pub(super) heading: String,
    pub(super) words: String,
    /// Group whose file it is in.
    pub(super) group: Option<String>,
    /// True if its file could not be read: an existing record stays, and none is created.
    pub(super) is_unreadable: bool,
}

impl FileEntry {
    /// Creates the entry of an unreadable file.
    pub(super) fn unreadable(digest: &str, place: &EntryLocation) -> Self {
        Self {
            digest: digest.to_owned(),
            place: place.clone(),
            heading: String::new(),
            words: String::new(),
            group: None,
            is_unreadable: true,
        }
    }
}

/// Entry of a team's file.
pub(super) struct TeamFileEntry {
    pub(super) digest: String,
    pub(super) place: EntryLocation,
    pub(super) category: String,
    /// Id of the entry, or a hash of its content.
    pub(super) name: String,
    pub(super) entry: TeamEntry,
}

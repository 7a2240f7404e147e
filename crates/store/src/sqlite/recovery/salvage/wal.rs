//! Write-ahead log in a salvage: the pages that were committed since the last checkpoint.

use crate::sqlite::database_files::wal_frames::{self, LogEnd};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Pages of a log.
#[derive(Debug, Default)]
pub(super) struct Journal<'a> {
    /// Page size, bytes; `None` if the log cannot be read.
    pub(super) page_size: Option<usize>,
    /// Last committed content of each page.
    pub(super) pages: HashMap<u32, Cow<'a, [u8]>>,
    /// Number of committed frames that could not be read.
    pub(super) frames_bad: usize,
    /// Pages whose last content was in such a frame.
    pub(super) pages_lost: BTreeSet<u32>,
}

/// Reads a log, including the intact frames after a broken one: they are acknowledged writes.
pub(super) fn read<'a>(log: &'a [u8], known: Option<&LogEnd>) -> Journal<'a> {
    let found = wal_frames::scan(log, known);
    Journal {
        page_size: found.page_size,
        pages: found.pages,
        frames_bad: found.frames_bad,
        pages_lost: found.pages_lost,
    }
}

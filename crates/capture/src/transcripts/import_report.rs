//! Reports of imports of transcripts.

use heirloom_engine::{ImportReport, LessonsReport};
use std::collections::BTreeMap;

/// Outcome of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptOutcome {
    /// New parts were imported.
    Imported,
    /// It was recorded in a folder below the project's root, which was not selected.
    Subfolder,
    /// It was recorded outside of the project.
    Outside(String),
    /// It does not name its folder.
    Unknown,
    /// It is not a transcript of this program, or is empty.
    NotATranscript,
}

/// Report of one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptReport {
    /// The outcome.
    pub outcome: TranscriptOutcome,
    /// Name of its session.
    pub session: Option<String>,
    /// Offset at which the next import begins.
    pub next_offset: u64,
    /// Bytes that were parsed, without those that the first pass only scanned.
    pub read_bytes: u64,
    /// Lines that were too long to be read.
    pub long_lines: u64,
    /// Lines that this program does not write.
    pub unreadable_lines: u64,
    /// True if the last line is incomplete; it is read when it is complete.
    pub is_cut: bool,
    /// True if the deadline ended the import; the next one continues at `next_offset`.
    pub is_unfinished: bool,
    /// Counts of the import; empty for a file of a larger import, which has the totals.
    pub import: ImportReport,
    /// Counts of the lessons.
    pub lessons: LessonsReport,
}

/// Report of an import of several transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptsReport {
    /// Totals.
    pub total: ImportReport,
    /// Files of this project.
    pub files: u64,
    /// Bytes of these files that were parsed.
    pub read_bytes: u64,
    /// Skipped files from folders below the project's root.
    pub in_subfolders: u64,
    /// Skipped files from outside of the project.
    pub outside: u64,
    /// The folders outside of the project, with the number of skipped files of each.
    pub outside_folders: BTreeMap<String, u64>,
    /// Skipped files that do not name their folder.
    pub unknown: u64,
    /// Files that are not transcripts of this program.
    pub no_transcripts: u64,
    /// Lines that were too long to be read.
    pub long_lines: u64,
    /// Lines that this program does not write.
    pub unreadable_lines: u64,
    /// Counts of the lessons.
    pub lessons: LessonsReport,
}

impl TranscriptReport {
    pub(super) fn with_outcome(outcome: TranscriptOutcome) -> Self {
        Self {
            outcome,
            session: None,
            next_offset: 0,
            read_bytes: 0,
            long_lines: 0,
            unreadable_lines: 0,
            is_cut: false,
            is_unfinished: false,
            import: ImportReport::default(),
            lessons: LessonsReport::default(),
        }
    }
}

impl TranscriptsReport {
    pub(super) fn add(&mut self, one: TranscriptReport) {
        match one.outcome {
            TranscriptOutcome::Imported => self.files += 1,
            TranscriptOutcome::Subfolder => self.in_subfolders += 1,
            TranscriptOutcome::Outside(folder) => {
                self.outside += 1;
                *self.outside_folders.entry(folder).or_default() += 1;
            }
            TranscriptOutcome::Unknown => self.unknown += 1,
            TranscriptOutcome::NotATranscript => self.no_transcripts += 1,
        }
        self.read_bytes += one.read_bytes;
        self.long_lines += one.long_lines;
        self.unreadable_lines += one.unreadable_lines;
        self.lessons.add(&one.lessons);
    }
}

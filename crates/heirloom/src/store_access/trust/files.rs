//! Trust in the files of a project: those that were written here, and those that a person has read.

use super::marks::{Mark, MarkKind, Marks};
use super::memory::tracked_entry;
use heirloom_engine::{FileTrust, FileVerdict};
use heirloom_fs::file_metadata;
use heirloom_fs::git_reflog;
use heirloom_fs::project_fs;
use heirloom_model::{Fault, Timestamp};
use heirloom_prompt::custom_commands;
use std::path::Path;

/// Trust in the files of one project.
pub(crate) struct ProjectFileTrust {
    marks: Marks,
    /// Id of the project's memory.
    memory: String,
    /// Time from which files count as written here; `None` if the project is not in use yet.
    since_ns: Option<i64>,
    now: Timestamp,
}

impl ProjectFileTrust {
    /// Returns the trust in the files of the project whose memory has this id and is used since `since_ns`.
    pub(crate) fn new(marks: Marks, memory: String, since_ns: Option<i64>, now: Timestamp) -> Self {
        Self {
            marks,
            memory,
            since_ns,
            now,
        }
    }

    /// Records the decision of a person about the file with this content.
    pub(crate) fn decide(&self, file: &Path, content: &[u8], trusts: bool) -> Result<(), Fault> {
        self.marks.add(&Mark {
            is_revoked: !trusts,
            ..self.mark(file, content)
        })
    }

    /// Returns true if the file has the text that was last seen as written here, which may be committed by now.
    fn is_own_text(&self, file: &Path, fingerprint: &str) -> bool {
        let own = Mark::new(MarkKind::File, file, &self.memory, self.now);
        let known = self.marks.find(own.kind, file, &own.content);
        if known.is_some_and(|known| known.written == fingerprint) {
            return true;
        }
        let is_own = self.is_written_here(file);
        // Other files, such as those of the inbox, are not committed.
        let extension = file.extension().unwrap_or_default();
        if is_own && (extension == "md" || file.ends_with("memory.json")) {
            let written = fingerprint.to_owned();
            // Best effort: without the mark a person has to decide after the text was committed.
            drop(self.marks.add(&Mark { written, ..own }));
        }
        is_own
    }

    fn mark(&self, file: &Path, content: &[u8]) -> Mark {
        // With the memory's id the mark does not hold for a clone at the same path.
        let content = custom_commands::fingerprint(&[content, self.memory.as_bytes()]);
        Mark::new(MarkKind::File, file, &content, self.now)
    }

    /// Returns true if the file was written on this machine after the project's memory was created.
    ///
    /// A file of an archive or a clone is older than the memory: the time of its last change cannot be set by who
    /// made it. What a pull brings has in git's index the time and size that it has on disk, until someone edits it.
    fn is_written_here(&self, file: &Path) -> bool {
        let (Some(since), Ok(found)) = (self.since_ns, file.symlink_metadata()) else {
            return false;
        };
        let nanoseconds = |(seconds, rest): (i64, i64)| {
            seconds.saturating_mul(1_000_000_000).saturating_add(rest)
        };
        if nanoseconds(file_metadata::changed_time(&found)) < since {
            return false;
        }
        let modified = nanoseconds(file_metadata::modified_time(&found));
        let Some(entry) = tracked_entry(file) else {
            return true;
        };
        let is_same_size = u64::from(entry.size_bytes) == found.len() & u64::from(u32::MAX);
        let is_edited = entry.modified_ns != modified || !is_same_size;
        is_edited || is_committed_here(file, modified.div_euclid(1_000_000_000))
    }
}

/// Returns true if the file was committed here after it was written: what a pull, a merge or a checkout writes is
/// followed by its own entry in git's log.
fn is_committed_here(file: &Path, written_s: i64) -> bool {
    let index = file.parent().and_then(project_fs::git_index_path);
    let git_dir = index.as_ref().and_then(|(_, index)| index.parent());
    git_dir.is_some_and(|git_dir| git_reflog::is_committed_after(git_dir, written_s))
}

impl FileTrust for ProjectFileTrust {
    fn verdict(&self, file: &Path, content: &[u8]) -> FileVerdict {
        let file = project_fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let mark = self.mark(&file, content);
        match self.marks.find(mark.kind, &file, &mark.content) {
            Some(known) if known.is_revoked => FileVerdict::Revoked,
            Some(_) => FileVerdict::Trusted,
            None if self.is_own_text(&file, &mark.content) => FileVerdict::Trusted,
            None => FileVerdict::Undecided,
        }
    }
}

//! Reader of group files: regular files only, up to a size limit, cached by their metadata.

use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_fs::file_metadata::{self, FileIdentity};
use heirloom_model::limits::GROUP_FILE_BYTES_MAX;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, SystemClock, Timestamp};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that was modified less than this before it was read is not cached: it may change again within the
/// resolution of its time stamp.
const TIME_RESOLUTION_MS: i64 = 1_000;

/// Content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct GroupFile {
    /// Text of the part that was read.
    pub(in crate::engine) text: String,
    /// Bytes at the beginning that were left out; 0 if the file is complete.
    pub(in crate::engine) cut_bytes: u64,
    /// Modification time in milliseconds.
    pub(in crate::engine) modified_ms: i64,
}

/// Cache of files by path.
#[derive(Debug, Default)]
pub(in crate::engine) struct GroupFileCache(Mutex<HashMap<PathBuf, (FileStamp, Arc<GroupFile>)>>);

/// Metadata that change when a file is modified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    file: Option<FileIdentity>,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn from_file(file: &File, found: &Metadata) -> Self {
        Self {
            file: file_metadata::open_identity(file, found),
            size: found.len(),
            modified: file_metadata::modified_time(found),
            changed: file_metadata::changed_time(found),
        }
    }

    fn is_cacheable(&self, now: Timestamp) -> bool {
        let changed_ms = self.changed.0.saturating_mul(1_000) + self.changed.1 / 1_000_000;
        now.as_millisecond().saturating_sub(changed_ms) > TIME_RESOLUTION_MS
    }
}

impl GroupFileCache {
    /// Reads the file at `path`; `None` if it does not exist. The error is a sentence.
    pub(in crate::engine) fn read(&self, path: &Path) -> Result<Option<Arc<GroupFile>>, String> {
        let Some((file, found)) = open(path)? else {
            return Ok(None);
        };
        let stamp = FileStamp::from_file(&file, &found);
        // Cloned, so that the lock is not held while the file is read.
        let known = self.known().get(path).cloned();
        if let Some((before, text)) = known
            && before == stamp
        {
            return Ok(Some(text));
        }
        let text = Arc::new(read_end(file, &found).map_err(|error| unreadable(path, &error))?);
        if stamp.is_cacheable(SystemClock.now()) {
            let cached = (stamp, Arc::clone(&text));
            self.known().insert(path.to_owned(), cached);
        }
        Ok(Some(text))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (FileStamp, Arc<GroupFile>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the file at `path` without the cache. Errors: as for [`GroupFileCache::read`].
pub(in crate::engine) fn read(path: &Path) -> Result<Option<GroupFile>, String> {
    match open(path)? {
        Some((file, found)) => read_end(file, &found)
            .map(Some)
            .map_err(|error| unreadable(path, &error)),
        None => Ok(None),
    }
}

/// Opens a regular file without following links or blocking on pipes. Errors: as for [`GroupFileCache::read`].
pub(in crate::engine) fn open(path: &Path) -> Result<Option<(File, Metadata)>, String> {
    let place = path.to_escaped();
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(path, &error)),
        Ok(found) if found.is_symlink() => {
            return Err(format!("{place} is a link, which is not followed"));
        }
        Ok(found) if !found.is_file() => return Err(format!("{place} is not a regular file")),
        Ok(_) => {}
    }
    match regular_file::open(path, LinkPolicy::Refuse) {
        Ok(opened) => Ok(Some((opened.file, opened.metadata))),
        Err(FileReadError::Missing) => Ok(None),
        Err(FileReadError::NotRegularFile) => Err(format!("{place} is not a regular file")),
        Err(problem) => Err(unreadable(path, &problem.into_io_error())),
    }
}

/// Reads the end of a file from the beginning of a line.
fn read_end(mut file: File, found: &Metadata) -> std::io::Result<GroupFile> {
    let skipped = found.len().saturating_sub(GROUP_FILE_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(GROUP_FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    let mut cut_bytes = skipped;
    if skipped > 0 {
        let line = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        bytes.drain(..line);
        cut_bytes += line as u64;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (seconds, nanoseconds) = file_metadata::modified_time(found);
    Ok(GroupFile {
        text,
        cut_bytes,
        modified_ms: seconds.saturating_mul(1_000) + nanoseconds / 1_000_000,
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.to_escaped())
}

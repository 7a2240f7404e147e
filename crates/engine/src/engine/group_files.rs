//! Reading the files of groups: only plain files, only so much of them, and again only when they changed.

use heirloom_model::limits::GROUP_FILE_BYTES_MAX;
use heirloom_model::{Clock, SystemClock, Timestamp};
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that changed so shortly before it was read may change again without a new time.
const UNSURE_MS: i64 = 1_000;

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Its text, without what lies before the part that is read.
    pub(super) text: String,
    /// Bytes that are not read, at its beginning; 0 if all is.
    pub(super) cut_bytes: u64,
    /// When it was changed, in milliseconds.
    pub(super) modified_ms: i64,
}

/// What was read before, by path.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<PathBuf, (Stamp, Arc<Text>)>>);

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            file: (found.dev(), found.ino()),
            size: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    fn is_sure(&self, now: Timestamp) -> bool {
        let changed_ms = self.changed.0.saturating_mul(1_000) + self.changed.1 / 1_000_000;
        now.as_millisecond().saturating_sub(changed_ms) > UNSURE_MS
    }
}

impl Cache {
    /// What the file at `path` says; `None` if there is none. Errors: why it cannot be read, as a sentence.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Arc<Text>>, String> {
        let Some((file, found)) = open(path)? else {
            return Ok(None);
        };
        let stamp = Stamp::of(&found);
        // Cloned, so that nobody waits while a file is read.
        let known = self.known().get(path).cloned();
        if let Some((before, text)) = known
            && before == stamp
        {
            return Ok(Some(text));
        }
        let text = Arc::new(read_end(file, &found).map_err(|error| unreadable(path, &error))?);
        if stamp.is_sure(SystemClock.now()) {
            let kept = (stamp, Arc::clone(&text));
            self.known().insert(path.to_owned(), kept);
        }
        Ok(Some(text))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Stamp, Arc<Text>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the file at `path` says now. Errors as for [`Cache::read`].
pub(super) fn read(path: &Path) -> Result<Option<Text>, String> {
    match open(path)? {
        Some((file, found)) => read_end(file, &found)
            .map(Some)
            .map_err(|error| unreadable(path, &error)),
        None => Ok(None),
    }
}

/// Opens a plain file: no link is followed, no pipe is waited for. Errors as for [`Cache::read`].
pub(super) fn open(path: &Path) -> Result<Option<(File, Metadata)>, String> {
    let place = path.display();
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(path, &error)),
        Ok(found) if found.is_symlink() => {
            return Err(format!("{place} is a link, which is not followed"));
        }
        Ok(found) if !found.is_file() => return Err(format!("{place} is no file")),
        Ok(_) => {}
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    let opened = (options.read(true))
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let found = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !found.is_file() {
        return Err(format!("{place} is no file"));
    }
    Ok(Some((file, found)))
}

/// The end of a file, from the beginning of a line.
fn read_end(mut file: File, found: &Metadata) -> std::io::Result<Text> {
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
    Ok(Text {
        text,
        cut_bytes,
        modified_ms: found.mtime().saturating_mul(1_000) + found.mtime_nsec() / 1_000_000,
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

//! Inbox: files dropped by agents without another channel, each processed once.
//!
//! A file is first renamed to a claim, whose id is the key of its note. A claim of a killed process is processed by
//! the next sweep without a duplicate note.

use super::NewNote;
use super::groups::file_cache;
use crate::engine::{FileVerdict, ProjectFiles};
use heirloom_formats::group::{InboxRequest, parse_request};
use heirloom_fs::durable;
use heirloom_model::limits::{
    INBOX_DONE_MAX, INBOX_FILE_BYTES_MAX, INBOX_LISTED_MAX, INBOX_RETRY_MS, INBOX_SWEEP_MAX,
};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Authority, ErrorKind, Fault, text};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Folder of the inbox, in the memory's folder.
const INBOX: &str = "inbox";
/// Folder of processed files.
const DONE: &str = "done";
/// Folder of refused files, each with its reason.
const FAILED: &str = "failed";
/// Lock of a sweep.
const LOCK: &str = ".lock";
/// Prefix of a claimed file's name.
const CLAIMED: &str = ".claim-";
/// Suffix of a file's name.
const ENDING: &str = ".json";
/// Maximum characters of a file's name.
const NAME_CHARS: usize = 80;

/// Report of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Processed files, in order.
    pub processed: Vec<String>,
    /// Refused files with the reason.
    pub failed: Vec<(String, String)>,
    /// Number of files left for the next sweep, because they may be incomplete, or came with the project.
    pub waiting: usize,
    /// Number of files left for the next sweep because the time was over; at most `INBOX_LISTED_MAX`.
    pub remaining: usize,
}

/// Content of a file.
enum Content {
    InboxRequest(InboxRequest),
    /// Unreadable for now, with the reason; the file may be incomplete.
    Unread(String),
    /// Permanently invalid, with the reason.
    Unfit(String),
    Gone,
}

impl ProjectFiles<'_> {
    /// Processes the inbox by name: each file once, even with concurrent sweeps. Processed files go to `done`,
    /// refused ones to `failed` with the reason; an unreadable file is left alone for a moment.
    ///
    /// No file is begun after `time_limit`; the rest is left for the next sweep. Does nothing when memory is off or
    /// another sweep runs. Errors: the first valid file that could not be stored; it stays claimed for the next sweep.
    pub fn sweep_inbox(&self, time_limit: Duration) -> Result<SweepReport, Fault> {
        let begun = Instant::now();
        let mut report = SweepReport::default();
        let inbox = self.engine.folder.join(INBOX);
        if !self.engine.has_files
            || !self.engine.settings.enabled
            || waiting_files(&inbox, 1)?.is_empty()
        {
            return Ok(report);
        }
        let Some(lock) = durable::try_lock(&inbox.join(LOCK))? else {
            return Ok(report);
        };
        let mut names = waiting_files(&inbox, INBOX_LISTED_MAX)?;
        report.remaining = names.len().saturating_sub(INBOX_SWEEP_MAX);
        names.truncate(INBOX_SWEEP_MAX);
        let mut first_fault = None;
        for (done, name) in names.iter().enumerate() {
            // At least one file, so that a slow machine makes progress.
            if done > 0 && begun.elapsed() >= time_limit {
                report.remaining += names.len() - done;
                break;
            }
            if let Err(fault) = self.process_file(&inbox, name, &mut report) {
                first_fault.get_or_insert(fault);
            }
        }
        if !report.processed.is_empty() {
            delete_oldest(&inbox.join(DONE))?;
        }
        drop(lock);
        first_fault.map_or(Ok(report), Err)
    }

    fn process_file(
        &self,
        inbox: &Path,
        name: &OsString,
        report: &mut SweepReport,
    ) -> Result<(), Fault> {
        let path = inbox.join(name);
        let file_name = name.to_string_lossy();
        let (claim, shown) = match file_name.strip_prefix(CLAIMED) {
            Some(claimed) => (
                file_name.to_string(),
                claimed.get(37..).unwrap_or_default().to_owned(),
            ),
            None => {
                match read_content(&path) {
                    Content::Gone => return Ok(()),
                    _ if !self.is_dropped_here(&path) => {
                        report.waiting += 1;
                        return Ok(());
                    }
                    Content::Unread(_) if self.is_recent(&path) => {
                        report.waiting += 1;
                        return Ok(());
                    }
                    Content::InboxRequest(_) | Content::Unread(_) | Content::Unfit(_) => {}
                }
                let shown = short_name(&file_name);
                let id = self.engine.ids.next(self.engine.now());
                let claim = format!("{CLAIMED}{id}-{shown}");
                if !durable::rename_synced(&path, &inbox.join(&claim))? {
                    return Ok(());
                }
                (claim, shown)
            }
        };
        let path = inbox.join(&claim);
        let key = format!(
            "inbox:{}",
            claim
                .get(CLAIMED.len()..CLAIMED.len() + 36)
                .unwrap_or(&claim)
        );
        match read_content(&path) {
            Content::Gone => Ok(()),
            Content::InboxRequest(ask) => match self
                .engine
                .groups()
                .add_note_once(&to_note(ask), Some(&key))
            {
                Ok(_) => {
                    self.move_out(inbox, &path, DONE, &shown, None)?;
                    report.processed.push(shown);
                    Ok(())
                }
                Err(fault) if matches!(fault.kind, ErrorKind::Usage | ErrorKind::Refused) => {
                    self.set_aside(inbox, &path, shown, &fault.message, report)
                }
                Err(fault) => Err(fault),
            },
            Content::Unread(why) | Content::Unfit(why) => {
                self.set_aside(inbox, &path, shown, &why, report)
            }
        }
    }

    fn set_aside(
        &self,
        inbox: &Path,
        path: &Path,
        shown: String,
        why: &str,
        report: &mut SweepReport,
    ) -> Result<(), Fault> {
        let why = self.engine.redaction().redact_input(why).into_owned();
        self.move_out(inbox, path, FAILED, &shown, Some(&why))?;
        report.failed.push((shown, why));
        Ok(())
    }

    /// Moves a claimed file to its final folder, redacted if it is text.
    fn move_out(
        &self,
        inbox: &Path,
        path: &Path,
        folder: &str,
        shown: &str,
        why: Option<&str>,
    ) -> Result<(), Fault> {
        let folder = inbox.join(folder);
        durable::make_private(&folder)?;
        durable::create_dir_private(&folder)?;
        let target = free_name(&folder, shown)?;
        if let Some(why) = why {
            let mut reason = target.clone().into_os_string();
            reason.push(".reason.txt");
            durable::write_atomic(Path::new(&reason), format!("{why}\n").as_bytes())?;
        }
        let words = read_file(path)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        match words {
            Some(words) => {
                durable::write_atomic(
                    &target,
                    self.engine.redaction().redact_input(&words).as_bytes(),
                )?;
                durable::remove_if_exists(path)?;
            }
            None => drop(durable::rename_synced(path, &target)?),
        }
        Ok(())
    }

    /// Returns true unless the file came with the project, as a note of a stranger.
    fn is_dropped_here(&self, path: &Path) -> bool {
        let content = read_file(path).unwrap_or_default();
        self.engine.file_trust.verdict(path, &content) == FileVerdict::Trusted
    }

    /// Returns true if a file was modified within the retry interval of the engine's clock; false for a time too far
    /// in the future.
    fn is_recent(&self, path: &Path) -> bool {
        let modified = path.symlink_metadata().and_then(|found| found.modified());
        let since = modified
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let Some(at_ms) = since.and_then(|at| i64::try_from(at.as_millis()).ok()) else {
            return false;
        };
        self.engine.now().as_millisecond().abs_diff(at_ms) < INBOX_RETRY_MS.unsigned_abs()
    }
}

/// Counts the files that wait in the inbox of the memory in `folder`, at most `INBOX_LISTED_MAX`.
pub fn count_inbox_files(folder: &Path) -> Result<usize, Fault> {
    Ok(waiting_files(&folder.join(INBOX), INBOX_LISTED_MAX)?.len())
}

fn to_note(ask: InboxRequest) -> NewNote {
    NewNote {
        content: ask.content,
        section: ask.section,
        // Any program can drop a file, so it never has the authority of a person.
        agent: (ask.agent).map(|name| Authority::agent_source(&name).to_owned()),
        group: ask.group,
    }
}

/// Lists at most `most` files of the inbox by name, claimed ones first.
///
/// A folder of 60,000 files takes longer to list than a hook may take, so the order holds among those listed.
fn waiting_files(inbox: &Path, most: usize) -> Result<Vec<OsString>, Fault> {
    let failed = |error| Fault::failed(format!("cannot list {}: {error}", inbox.to_escaped()));
    let entries = match std::fs::read_dir(inbox) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let file_name = name.to_string_lossy();
        let is_claimed = file_name.starts_with(CLAIMED);
        if is_claimed || (file_name.ends_with(ENDING) && !file_name.starts_with('.')) {
            names.push((!is_claimed, name));
        }
        if names.len() >= most {
            break;
        }
    }
    // A link would lead the sweep out of the project; without files there is nothing to refuse.
    if !names.is_empty() && inbox.is_symlink() {
        let place = inbox.to_escaped();
        return Err(
            Fault::refused(format!("{place} is a link, which is not followed"))
                .hint("remove the link; its target was not touched"),
        );
    }
    names.sort();
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

fn read_content(path: &Path) -> Content {
    match file_cache::open(path) {
        Ok(None) => return Content::Gone,
        Ok(Some((_, found))) if found.len() > INBOX_FILE_BYTES_MAX => {
            let bytes = found.len();
            return Content::Unfit(format!(
                "it has {bytes} bytes; at most {INBOX_FILE_BYTES_MAX} are read"
            ));
        }
        Ok(Some(_)) => {}
        Err(_) if path.is_symlink() => {
            return Content::Unfit("it is a link, which is not followed".to_owned());
        }
        Err(_) if !path.is_file() => return Content::Unfit("it is not a regular file".to_owned()),
        Err(problem) => return Content::Unread(problem),
    }
    match read_file(path) {
        Ok(bytes) => parse_request(&bytes).map_or_else(Content::Unread, Content::InboxRequest),
        Err(problem) => Content::Unread(problem),
    }
}

/// Reads a regular file up to the size limit.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let Some((file, found)) = file_cache::open(path)? else {
        return Err("it is gone".to_owned());
    };
    let mut bytes = Vec::new();
    let most = INBOX_FILE_BYTES_MAX + 1;
    let read = file.take(most).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if found.len() > INBOX_FILE_BYTES_MAX || bytes.len() as u64 == most {
        return Err(format!("it has more than {INBOX_FILE_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// Converts a file's name to one short line, with space for prefix and suffix.
fn short_name(name: &str) -> String {
    let stem = name.strip_suffix(ENDING).unwrap_or(name);
    let stem = text::one_line(stem);
    let stem = text::clip(&stem, NAME_CHARS);
    // A single character may consist of many bytes.
    let end = (0..=stem.len().min(2 * NAME_CHARS))
        .rev()
        .find(|at| stem.is_char_boundary(*at));
    format!("{}{ENDING}", &stem[..end.unwrap_or(0)])
}

fn free_name(folder: &Path, shown: &str) -> Result<PathBuf, Fault> {
    let stem = shown.strip_suffix(ENDING).unwrap_or(shown);
    let names =
        std::iter::once(shown.to_owned()).chain((2..).map(|n| format!("{stem}-{n}{ENDING}")));
    let mut paths = names.take(10_000).map(|name| folder.join(name));
    paths
        .find(|path| path.symlink_metadata().is_err())
        .ok_or_else(|| {
            Fault::failed(format!(
                "no free name for {shown} in {}",
                folder.to_escaped()
            ))
        })
}

/// Deletes the oldest processed files beyond the limit.
fn delete_oldest(folder: &Path) -> Result<(), Fault> {
    let failed = |error| Fault::failed(format!("cannot list {}: {error}", folder.to_escaped()));
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    for (_, path) in files
        .iter()
        .take(files.len().saturating_sub(INBOX_DONE_MAX))
    {
        durable::remove_if_exists(path)?;
    }
    Ok(())
}

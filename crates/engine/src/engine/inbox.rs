//! The inbox: files that agents without another channel drop, each handled once.
//!
//! A file is claimed by a new name first, which is the key of its note: a claim of somebody who died is handled by the
//! next one, and what was noted already is not noted again.

use super::group_files;
use super::{Engine, NewNote};
use crate::group::{Ask, read_ask};
use heirloom_model::limits::{
    INBOX_DONE_MAX, INBOX_FILE_BYTES_MAX, INBOX_PATIENCE_MS, INBOX_SWEEP_MAX,
};
use heirloom_model::{ErrorKind, Fault, text};
use heirloom_store::durable;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The folder of the inbox, in the folder of the project's memory.
const INBOX: &str = "inbox";
/// Where files go that were taken.
const DONE: &str = "done";
/// Where files go that could not be, each with its reason.
const FAILED: &str = "failed";
/// One process at a time sweeps.
const LOCK: &str = ".lock";
/// What the name of a claimed file begins with.
const CLAIMED: &str = ".claim-";
/// What the name of a file ends with.
const ENDING: &str = ".json";
/// Most characters of a file's name that are kept.
const NAME_CHARS: usize = 80;

/// What a sweep of the inbox did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files that were taken, in their order.
    pub done: Vec<String>,
    /// Files that were set aside, and why.
    pub failed: Vec<(String, String)>,
    /// Files that stay for the next sweep: somebody may be writing them.
    pub waiting: usize,
}

/// What a file turned out to be.
enum Content {
    Ask(Ask),
    /// It cannot be used, for this reason; a later sweep may find it whole.
    Unread(String),
    /// It never will be.
    Unfit(String),
    Gone,
}

impl Engine {
    /// Takes what is in the inbox, by name: each file once, whoever else sweeps. What was taken goes to `done`, what
    /// cannot be to `failed` with its reason; a file that cannot be read yet is left alone for a moment.
    ///
    /// Nothing is done when memory is off or somebody else sweeps. Errors: the first file that memory could not take,
    /// though there is nothing wrong with it: it stays claimed, and the next sweep takes it.
    pub fn sweep_inbox(&self) -> Result<Swept, Fault> {
        let mut swept = Swept::default();
        let inbox = self.folder.join(INBOX);
        if !self.settings.enabled || waiting_files(&inbox)?.is_empty() {
            return Ok(swept);
        }
        let Some(lock) = durable::try_lock(&inbox.join(LOCK))? else {
            return Ok(swept);
        };
        let mut names = waiting_files(&inbox)?;
        names.truncate(INBOX_SWEEP_MAX);
        let mut first_fault = None;
        for name in names {
            if let Err(fault) = self.take_file(&inbox, &name, &mut swept) {
                first_fault.get_or_insert(fault);
            }
        }
        if !swept.done.is_empty() {
            thin(&inbox.join(DONE))?;
        }
        drop(lock);
        first_fault.map_or(Ok(swept), Err)
    }

    fn take_file(&self, inbox: &Path, name: &OsString, swept: &mut Swept) -> Result<(), Fault> {
        let path = inbox.join(name);
        let said = name.to_string_lossy();
        let (claim, shown) = match said.strip_prefix(CLAIMED) {
            Some(claimed) => (
                said.to_string(),
                claimed.get(37..).unwrap_or_default().to_owned(),
            ),
            None => {
                match look(&path) {
                    Content::Gone => return Ok(()),
                    Content::Unread(_) if self.is_young(&path) => {
                        swept.waiting += 1;
                        return Ok(());
                    }
                    Content::Ask(_) | Content::Unread(_) | Content::Unfit(_) => {}
                }
                let shown = short_name(&said);
                let id = self.ids.next(self.now());
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
        match look(&path) {
            Content::Gone => Ok(()),
            Content::Ask(ask) => match self.note_once(&note_of(ask), Some(&key)) {
                Ok(_) => {
                    self.put_away(inbox, &path, DONE, &shown, None)?;
                    swept.done.push(shown);
                    Ok(())
                }
                Err(fault) if matches!(fault.kind, ErrorKind::Usage | ErrorKind::Refused) => {
                    self.set_aside(inbox, &path, shown, &fault.message, swept)
                }
                Err(fault) => Err(fault),
            },
            Content::Unread(why) | Content::Unfit(why) => {
                self.set_aside(inbox, &path, shown, &why, swept)
            }
        }
    }

    fn set_aside(
        &self,
        inbox: &Path,
        path: &Path,
        shown: String,
        why: &str,
        swept: &mut Swept,
    ) -> Result<(), Fault> {
        let why = self.clean(why).into_owned();
        self.put_away(inbox, path, FAILED, &shown, Some(&why))?;
        swept.failed.push((shown, why));
        Ok(())
    }

    /// Moves a claimed file to its end, without its secrets if it is text.
    fn put_away(
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
        let words = read_whole(path)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        match words {
            Some(words) => {
                durable::write_atomic(&target, self.clean(&words).as_bytes())?;
                durable::remove_if_there(path)?;
            }
            None => drop(durable::rename_synced(path, &target)?),
        }
        Ok(())
    }

    /// Whether a file was written just now, by the engine's clock. One from the future was not.
    fn is_young(&self, path: &Path) -> bool {
        let modified = path.symlink_metadata().and_then(|found| found.modified());
        let since = modified
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let Some(at_ms) = since.and_then(|at| i64::try_from(at.as_millis()).ok()) else {
            return false;
        };
        self.now().as_millisecond().abs_diff(at_ms) < INBOX_PATIENCE_MS.unsigned_abs()
    }
}

fn note_of(ask: Ask) -> NewNote {
    NewNote {
        content: ask.content,
        section: ask.section,
        agent: ask.agent,
        group: ask.group,
    }
}

/// The files that wait in the inbox, claimed ones first, by name; one look at the folder.
fn waiting_files(inbox: &Path) -> Result<Vec<OsString>, Fault> {
    let failed = |error| Fault::failed(format!("cannot list {}: {error}", inbox.display()));
    let entries = match std::fs::read_dir(inbox) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let said = name.to_string_lossy();
        let is_claimed = said.starts_with(CLAIMED);
        if is_claimed || (said.ends_with(ENDING) && !said.starts_with('.')) {
            names.push((!is_claimed, name));
        }
    }
    // A link would lead the sweep somewhere else; where nothing waits, nothing is done.
    if !names.is_empty() && inbox.is_symlink() {
        let place = inbox.display();
        return Err(
            Fault::refused(format!("{place} is a link, which is not followed"))
                .hint("remove the link; what it leads to was not touched"),
        );
    }
    names.sort();
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

fn look(path: &Path) -> Content {
    match group_files::open(path) {
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
        Err(_) if !path.is_file() => return Content::Unfit("it is no file".to_owned()),
        Err(problem) => return Content::Unread(problem),
    }
    match read_whole(path) {
        Ok(bytes) => read_ask(&bytes).map_or_else(Content::Unread, Content::Ask),
        Err(problem) => Content::Unread(problem),
    }
}

/// The bytes of a plain file that is not too large.
fn read_whole(path: &Path) -> Result<Vec<u8>, String> {
    let Some((file, found)) = group_files::open(path)? else {
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

/// A file's name on one line, short enough to get something before and behind it.
fn short_name(name: &str) -> String {
    let stem = name.strip_suffix(ENDING).unwrap_or(name);
    let stem = text::one_line(stem);
    let stem = text::clip(&stem, NAME_CHARS);
    // A grapheme may be long.
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
        .ok_or_else(|| Fault::failed(format!("no free name for {shown} in {}", folder.display())))
}

/// Takes away the first files, by name, of those that were taken, if there are too many.
fn thin(folder: &Path) -> Result<(), Fault> {
    let failed = |error| Fault::failed(format!("cannot list {}: {error}", folder.display()));
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
        durable::remove_if_there(path)?;
    }
    Ok(())
}

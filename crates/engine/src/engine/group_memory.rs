//! A group's `MEMORY.md`: it follows the notes in the store, while people edit it.

use super::group_files;
use crate::group::{self, AGENT_DEFAULT, Candidate, ComesBack, Entry, SECTION_DEFAULT};
use heirloom_model::{Clock, Fault, Record, RecordId, SystemClock, Timestamp, limits};
use heirloom_store::durable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What agents noted.
pub(super) const MEMORY: &str = "MEMORY.md";
/// How often it is looked whether an editor saved an older file meanwhile.
const LOOKS_MAX: usize = 5;
/// How often each note was written to the file.
const WRITTEN: &str = ".written.json";

/// The file, and the newest notes that it should have. Whoever has it holds the group's lock.
pub(super) struct GroupMemory {
    folder: PathBuf,
    said: String,
    /// When the file was changed, in milliseconds; by the file system's clock.
    saved_ms: i64,
    /// The newest first.
    notes: Vec<Record>,
    written: Written,
    now: Timestamp,
}

impl GroupMemory {
    /// Reads the file of the group in `folder`; `notes` are its newest ones, the newest first.
    pub(super) fn read(folder: &Path, notes: Vec<Record>, now: Timestamp) -> Result<Self, Fault> {
        let file = group_files::read(&folder.join(MEMORY)).map_err(unfit)?;
        Ok(Self {
            folder: folder.to_owned(),
            saved_ms: file.as_ref().map_or(0, |file| file.modified_ms),
            said: file.map(|file| file.text).unwrap_or_default(),
            notes,
            written: Written::read(&folder.join(WRITTEN))?,
            now,
        })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(MEMORY)
    }

    /// Writes what the file lacks of its newest notes; how many.
    pub(super) fn mend(&mut self) -> Result<usize, Fault> {
        let candidates: Vec<_> = self
            .notes
            .iter()
            .map(|record| Candidate {
                block: entry_of(record),
                comes_back: self.comes_back(record),
            })
            .collect();
        let lacking = group::missing(&self.said, &candidates);
        let blocks: Vec<_> = lacking
            .iter()
            .map(|at| candidates[*at].block.clone())
            .collect();
        self.append(&blocks)?;
        self.count(&lacking)?;
        Ok(lacking.len())
    }

    /// Writes one more note.
    ///
    /// An editor does not ask for the lock: it may save an older file before the note is written behind what was read,
    /// and a note that is missing between others is never mended. So it is looked once more before and after.
    pub(super) fn take(&mut self, note: Record) -> Result<(), Fault> {
        self.look()?;
        self.mend()?;
        let mut there: Vec<_> = (self.notes.iter().rev().map(entry_of))
            .filter(|block| group::is_there(&self.said, block))
            .collect();
        there.push(entry_of(&note));
        self.notes.insert(0, note);
        self.notes.truncate(limits::GROUP_NOTES_COMPARED_MAX);
        self.append(&there[there.len() - 1..])?;
        for _ in 0..LOOKS_MAX {
            self.look()?;
            let mut lost = there.clone();
            lost.retain(|block| !group::is_there(&self.said, block));
            if lost.is_empty() {
                break;
            }
            self.append(&lost)?;
        }
        self.count(&[0])
    }

    /// Reads the file again.
    fn look(&mut self) -> Result<(), Fault> {
        let file = group_files::read(&self.path()).map_err(unfit)?;
        self.saved_ms = file.as_ref().map_or(0, |file| file.modified_ms);
        self.said = file.map(|file| file.text).unwrap_or_default();
        Ok(())
    }

    fn append(&mut self, blocks: &[String]) -> Result<(), Fault> {
        if blocks.is_empty() {
            return Ok(());
        }
        let blocks: Vec<_> = blocks.iter().map(String::as_str).collect();
        let added = group::addition(&self.said, &blocks);
        durable::append_whole(&self.path(), added.as_bytes())?;
        self.said.push_str(&added);
        Ok(())
    }

    /// Whether a note that the file lacks is written: if it never was; once more within its time; and each time if
    /// it was there so shortly that whoever saved the file may not have known it.
    fn comes_back(&self, record: &Record) -> ComesBack {
        let age_s = self
            .now
            .as_second()
            .saturating_sub(record.recorded_at.as_second());
        let is_young = age_s <= limits::GROUP_NOTE_BACK_S;
        let Some((times, at_ms)) = self.written.of(record.id) else {
            return match is_young || self.written.is_known {
                true => ComesBack::FromTheEnd,
                false => ComesBack::Never,
            };
        };
        let may_be_unknown = self.saved_ms.saturating_sub(at_ms) < limits::GROUP_NOTE_KNOWN_MS;
        // A file that is gone or empty was made so by somebody: no editor saves like that.
        match !is_young || self.said.trim().is_empty() {
            true => ComesBack::Never,
            false if may_be_unknown => ComesBack::FromAnywhere,
            false if times == 1 => ComesBack::FromTheEnd,
            false => ComesBack::Never,
        }
    }

    fn count(&mut self, appended: &[usize]) -> Result<(), Fault> {
        if self.written.count(&self.notes, appended) {
            self.written.write(&self.folder.join(WRITTEN))?;
        }
        Ok(())
    }
}

/// How often notes were written to their file, and when the last time, in milliseconds, by id.
#[derive(Debug, Default)]
struct Written {
    times: BTreeMap<String, (u32, i64)>,
    /// Whether somebody counted before.
    is_known: bool,
}

impl Written {
    fn read(path: &Path) -> Result<Self, Fault> {
        let Some(file) = group_files::read(path).map_err(unfit)? else {
            return Ok(Self::default());
        };
        // One that cannot be understood counts as none: at most a note comes back once more.
        let times = serde_json::from_str(&file.text).ok();
        Ok(Self {
            is_known: times.is_some(),
            times: times.unwrap_or_default(),
        })
    }

    fn of(&self, id: RecordId) -> Option<(u32, i64)> {
        self.times.get(&id.to_string()).copied()
    }

    /// Counts what was appended, and what is there for the first time; keeps nothing of older notes. Whether that
    /// changes anything.
    fn count(&mut self, notes: &[Record], appended: &[usize]) -> bool {
        // The engine's clock may stand still or be another one than the file system's.
        let now_ms = SystemClock.now().as_millisecond();
        let count = |(at, record): (usize, &Record)| {
            let now = match (self.of(record.id), appended.contains(&at)) {
                (None, _) => (1, now_ms),
                (Some((times, _)), true) => (times.saturating_add(1), now_ms),
                (Some(before), false) => before,
            };
            (record.id.to_string(), now)
        };
        let times: BTreeMap<_, _> = notes.iter().enumerate().map(count).collect();
        let changes = times != self.times;
        self.times = times;
        changes
    }

    fn write(&self, path: &Path) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(&self.times)
            .map_err(|error| Fault::failed(format!("{}: {error}", path.display())))?;
        Ok(durable::write_atomic(path, &bytes)?)
    }
}

fn entry_of(record: &Record) -> String {
    Entry {
        section: record.category().unwrap_or(SECTION_DEFAULT),
        agent: record.scope.agent.as_deref().unwrap_or(AGENT_DEFAULT),
        at: record.recorded_at,
        content: &record.text,
    }
    .block()
}

fn unfit(problem: String) -> Fault {
    Fault::failed(problem).hint("put a plain file there, or nothing")
}

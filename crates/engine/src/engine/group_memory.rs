//! A group's `MEMORY.md`: it follows the notes in the store, while people edit it.

use super::group_files;
use crate::group::{self, AGENT_DEFAULT, Candidate, Entry, SECTION_DEFAULT};
use heirloom_model::{Fault, Record, RecordId, Timestamp, limits};
use heirloom_store::durable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What agents noted.
pub(super) const MEMORY: &str = "MEMORY.md";
/// How often each note was written to the file.
const WRITTEN: &str = ".written.json";

/// The file, and the newest notes that it should have. Whoever has it holds the group's lock.
pub(super) struct GroupMemory {
    folder: PathBuf,
    said: String,
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
                may_come_back: self.may_come_back(record),
            })
            .collect();
        let lacking = group::missing(&self.said, &candidates);
        let blocks: Vec<_> = lacking
            .iter()
            .map(|at| candidates[*at].block.as_str())
            .collect();
        self.append(&blocks)?;
        self.count(&lacking)?;
        Ok(lacking.len())
    }

    /// Writes one more note.
    pub(super) fn take(&mut self, note: Record) -> Result<(), Fault> {
        self.append(&[&entry_of(&note)])?;
        self.notes.insert(0, note);
        self.notes.truncate(limits::GROUP_NOTES_COMPARED_MAX);
        self.count(&[0])
    }

    fn append(&mut self, blocks: &[&str]) -> Result<(), Fault> {
        if blocks.is_empty() {
            return Ok(());
        }
        let added = group::addition(&self.said, blocks);
        durable::append_whole(&self.path(), added.as_bytes())?;
        self.said.push_str(&added);
        Ok(())
    }

    /// Whether a note that the file lacks is written: if it never was, or once more shortly after.
    fn may_come_back(&self, record: &Record) -> bool {
        let age_s = self
            .now
            .as_second()
            .saturating_sub(record.recorded_at.as_second());
        let is_young = age_s <= limits::GROUP_NOTE_BACK_S;
        match self.written.times(record.id) {
            0 => is_young || self.written.is_known,
            // A file that is gone or empty was made so by somebody: no editor saves like that.
            1 => is_young && !self.said.trim().is_empty(),
            _ => false,
        }
    }

    fn count(&mut self, appended: &[usize]) -> Result<(), Fault> {
        if self.written.count(&self.notes, appended) {
            self.written.write(&self.folder.join(WRITTEN))?;
        }
        Ok(())
    }
}

/// How often notes were written to their file, by id.
#[derive(Debug, Default)]
struct Written {
    times: BTreeMap<String, u8>,
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

    fn times(&self, id: RecordId) -> u8 {
        self.times.get(&id.to_string()).copied().unwrap_or(0)
    }

    /// Counts what was appended, and what is there for the first time; keeps nothing of older notes. Whether that
    /// changes anything.
    fn count(&mut self, notes: &[Record], appended: &[usize]) -> bool {
        let count = |(at, record): (usize, &Record)| {
            let before = self.times(record.id);
            let now = match appended.contains(&at) {
                true => before.saturating_add(1),
                false => before.max(1),
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

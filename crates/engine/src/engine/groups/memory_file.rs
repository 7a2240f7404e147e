//! A group's `MEMORY.md`: kept in step with the notes in the store while people edit it.

use super::file_cache;
use heirloom_formats::group::{
    self, AGENT_DEFAULT, ExpectedEntry, GroupEntry, RestorePolicy, SECTION_DEFAULT,
};
use heirloom_fs::durable;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, Fault, Record, RecordId, SystemClock, Timestamp, limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// File with the notes of agents.
pub(in crate::engine) const MEMORY: &str = "MEMORY.md";
/// Maximum number of checks for a concurrent save of an editor.
const LOOKS_MAX: usize = 5;
/// File with the number of times that each note was written.
const WRITTEN: &str = ".written.json";

/// The file and its newest notes. Needs the lock of the group.
pub(super) struct GroupMemory {
    folder: PathBuf,
    text: String,
    /// Modification time of the file in milliseconds, by the file system's clock.
    saved_ms: i64,
    /// Newest first.
    notes: Vec<Record>,
    written: WriteCounts,
    now: Timestamp,
}

impl GroupMemory {
    /// Reads the file of the group in `folder`; `notes` are its newest ones, newest first.
    pub(super) fn read(folder: &Path, notes: Vec<Record>, now: Timestamp) -> Result<Self, Fault> {
        let file = file_cache::read(&folder.join(MEMORY)).map_err(file_fault)?;
        Ok(Self {
            folder: folder.to_owned(),
            saved_ms: file.as_ref().map_or(0, |file| file.modified_ms),
            text: file.map(|file| file.text).unwrap_or_default(),
            notes,
            written: WriteCounts::read(&folder.join(WRITTEN))?,
            now,
        })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(MEMORY)
    }

    /// Appends the newest notes that the file lacks; returns their number.
    pub(super) fn repair(&mut self) -> Result<usize, Fault> {
        let candidates: Vec<_> = self
            .notes
            .iter()
            .map(|record| ExpectedEntry {
                block: render_entry(record),
                restore_policy: self.restore_policy(record),
            })
            .collect();
        let lacking = group::missing_entries(&self.text, &candidates);
        let blocks: Vec<_> = lacking
            .iter()
            .map(|at| candidates[*at].block.clone())
            .collect();
        self.append(&blocks)?;
        self.count(&lacking)?;
        Ok(lacking.len())
    }

    /// Appends one more note.
    ///
    /// Editors do not use the lock: one may save an older file just before the note is appended, and a note that is
    /// missing between others is never repaired. So the file is read again before and after.
    pub(super) fn add(&mut self, note: Record) -> Result<(), Fault> {
        self.reload()?;
        self.repair()?;
        let mut present: Vec<_> = (self.notes.iter().rev().map(render_entry))
            .filter(|block| group::has_entry(&self.text, block))
            .collect();
        present.push(render_entry(&note));
        self.notes.insert(0, note);
        self.notes.truncate(limits::GROUP_NOTES_COMPARED_MAX);
        self.append(&present[present.len() - 1..])?;
        for _ in 0..LOOKS_MAX {
            self.reload()?;
            let mut lost = present.clone();
            lost.retain(|block| !group::has_entry(&self.text, block));
            if lost.is_empty() {
                break;
            }
            self.append(&lost)?;
        }
        self.count(&[0])
    }

    /// Reads the file again.
    fn reload(&mut self) -> Result<(), Fault> {
        let file = file_cache::read(&self.path()).map_err(file_fault)?;
        self.saved_ms = file.as_ref().map_or(0, |file| file.modified_ms);
        self.text = file.map(|file| file.text).unwrap_or_default();
        Ok(())
    }

    fn append(&mut self, blocks: &[String]) -> Result<(), Fault> {
        if blocks.is_empty() {
            return Ok(());
        }
        let blocks: Vec<_> = blocks.iter().map(String::as_str).collect();
        let added = group::render_addition(&self.text, &blocks);
        durable::append_all_or_nothing(&self.path(), added.as_bytes())?;
        self.text.push_str(&added);
        Ok(())
    }

    /// Decides if a missing note is written again: if it never was; once more within its time; and each time if it
    /// was in the file for so short a time that the editor may not have loaded it.
    fn restore_policy(&self, record: &Record) -> RestorePolicy {
        let age_s = self
            .now
            .as_second()
            .saturating_sub(record.recorded_at.as_second());
        let is_young = age_s <= limits::GROUP_NOTE_BACK_S;
        let Some((times, at_ms)) = self.written.get(record.id) else {
            return match is_young || self.written.is_known {
                true => RestorePolicy::IfLostAtEnd,
                false => RestorePolicy::Never,
            };
        };
        let may_be_unknown = self.saved_ms.saturating_sub(at_ms) < limits::GROUP_NOTE_KNOWN_MS;
        // A missing or empty file is intended: no editor saves like that.
        match !is_young || self.text.trim().is_empty() {
            true => RestorePolicy::Never,
            false if may_be_unknown => RestorePolicy::IfLost,
            false if times == 1 => RestorePolicy::IfLostAtEnd,
            false => RestorePolicy::Never,
        }
    }

    fn count(&mut self, appended: &[usize]) -> Result<(), Fault> {
        if self.written.count(&self.notes, appended) {
            self.written.write(&self.folder.join(WRITTEN))?;
        }
        Ok(())
    }
}

/// Number of times that notes were written, and the last time in milliseconds, by id.
#[derive(Debug, Default)]
struct WriteCounts {
    times: BTreeMap<String, (u32, i64)>,
    /// True if there were counts before.
    is_known: bool,
}

impl WriteCounts {
    fn read(path: &Path) -> Result<Self, Fault> {
        let Some(file) = file_cache::read(path).map_err(file_fault)? else {
            return Ok(Self::default());
        };
        // An unreadable file counts as empty: at most, a note is written once more.
        let times = serde_json::from_str(&file.text).ok();
        Ok(Self {
            is_known: times.is_some(),
            times: times.unwrap_or_default(),
        })
    }

    fn get(&self, id: RecordId) -> Option<(u32, i64)> {
        self.times.get(&id.to_string()).copied()
    }

    /// Counts appended notes and those that appear for the first time; drops older ones. Returns true if something
    /// changed.
    fn count(&mut self, notes: &[Record], appended: &[usize]) -> bool {
        // The engine's clock may be fixed, or differ from the file system's.
        let now_ms = SystemClock.now().as_millisecond();
        let count = |(at, record): (usize, &Record)| {
            let now = match (self.get(record.id), appended.contains(&at)) {
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
            .map_err(|error| Fault::failed(format!("{}: {error}", path.to_escaped())))?;
        Ok(durable::write_atomic(path, &bytes)?)
    }
}

/// Renders the entry of a note.
pub(super) fn render_entry(record: &Record) -> String {
    GroupEntry {
        section: record.category().unwrap_or(SECTION_DEFAULT),
        agent: record.scope.agent.as_deref().unwrap_or(AGENT_DEFAULT),
        at: record.recorded_at,
        content: &record.text,
    }
    .block()
}

fn file_fault(problem: String) -> Fault {
    Fault::failed(problem).hint("remove it, or replace it by a regular file")
}

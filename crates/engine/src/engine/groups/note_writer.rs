//! Writer of group notes: checks, the record, and the entry in `MEMORY.md`.

use super::memory_file::{GroupMemory, render_entry};
use super::{Groups, IN_FILE, LOCK, NewNote, NoteReport};
use crate::engine::new_record::check_scope;
use crate::engine::redaction::{Redacted, RedactedTexts};
use crate::engine::tasks::last;
use crate::engine::{NewRecord, apply_redacted};
use heirloom_formats::group::{self, AGENT_DEFAULT, GROUP_DEFAULT, SECTION_DEFAULT};
use heirloom_fs::durable;
use heirloom_model::{Fault, Kind, RecordId, Scope, limits, text};
use heirloom_store::{AsOf, Change, Filter};
use std::collections::HashSet;
use std::path::Path;

impl Groups<'_> {
    /// Adds a note to a group: as a record, and at the end of its `MEMORY.md`; both are durable when it returns.
    ///
    /// Safe with any number of processes. Errors: `Refused` for a note without words, an invalid group name, links,
    /// and when memory is off; `Usage` for too long notes and invalid names.
    pub fn add_note(&self, note: &NewNote) -> Result<NoteReport, Fault> {
        self.add_note_once(note, None)
    }

    /// Adds a note as [`Self::add_note`], unless one with this key exists.
    pub(in crate::engine) fn add_note_once(
        &self,
        note: &NewNote,
        key: Option<&str>,
    ) -> Result<NoteReport, Fault> {
        self.engine.require_memory()?;
        let mut redacted = Vec::new();
        let new = self.engine.redaction().redact_new_record(
            new_record(note)?,
            RedactedTexts::NONE,
            &mut redacted,
        );
        check_scope(&new.scope)?;
        let group = new.scope.group.clone().unwrap_or_default();
        group::check_group_name(&group).map_err(|problem| {
            Fault::refused(problem).hint("use letters, digits, `-` and `_`: the name is a folder")
        })?;
        let folder = self.group_folder(&group)?;
        durable::create_dir_private(&folder)?;
        let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
        let before = match key {
            Some(key) => self.find_note(&group, key)?,
            None => None,
        };
        let mut memory = self.memory(&group, &folder)?;
        let mended = memory.repair()?;
        let id = match before {
            Some(id) => id,
            None => self.store_note(&new, key, &mut memory)?,
        };
        drop(lock);
        Ok(NoteReport {
            id,
            group,
            file: memory.path(),
            repaired: mended,
            redacted,
        })
    }

    /// Stores a note, then appends it to its file.
    fn store_note(
        &self,
        new: &Redacted<NewRecord>,
        key: Option<&str>,
        memory: &mut GroupMemory,
    ) -> Result<RecordId, Fault> {
        let Change::Put { mut record, merge } = self.engine.records().change_of_redacted(new)?
        else {
            return Err(Fault::failed("a note is not a new record"));
        };
        record.key = key.map(str::to_owned);
        record.attrs.insert(IN_FILE.to_owned(), true.into());
        let note = (*record).clone();
        let put = self
            .engine
            .redaction()
            .redact_change_of(Change::Put { record, merge }, new);
        let id = last(&apply_redacted(self.engine, vec![put])?)?.id;
        if let Err(fault) = memory.add(note) {
            // A note that its file lacks must not be visible. If this fails too, the next note writes it to the file.
            drop(self.retire_note(id));
            return Err(fault);
        }
        Ok(id)
    }

    fn retire_note(&self, id: RecordId) -> Result<RecordId, Fault> {
        let (at, by) = (self.engine.now(), "heirloom".to_owned());
        Ok(self
            .engine
            .records()
            .apply_one(Change::Retire { id, at, by })?
            .id)
    }

    fn find_note(&self, group: &str, key: &str) -> Result<Option<RecordId>, Fault> {
        let filter = Filter {
            as_of: AsOf::Ever,
            ..self.notes_of(group).key(key)
        };
        Ok(self
            .engine
            .records()
            .find(&filter)?
            .first()
            .map(|record| record.id))
    }

    fn notes_of(&self, group: &str) -> Filter {
        Filter {
            scope: Scope {
                group: Some(group.to_owned()),
                ..Scope::default()
            },
            ..Filter::current(&[Kind::Note], self.engine.now())
        }
        .limit(limits::GROUP_NOTES_COMPARED_MAX)
    }

    /// Returns the text of a group's file with the bullets of its notes blanked, also of past ones; the rest was
    /// written by people.
    pub(in crate::engine) fn without_notes(
        &self,
        group: &str,
        text: &str,
    ) -> Result<String, Fault> {
        let mut ever = self.notes_of(group);
        (ever.as_of, ever.limit) = (AsOf::Ever, limits::FIND_MAX);
        let mut notes = self.engine.records().find(&ever)?;
        notes.retain(|record| record.attrs.contains_key(IN_FILE));
        let blocks: Vec<_> = notes.iter().map(render_entry).collect();
        let lines = blocks.iter().filter_map(|block| block.lines().nth(1));
        let bullets: HashSet<&str> = lines.map(str::trim_end).collect();
        let mut kept = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let is_note = bullets.contains(line.trim_end());
            kept.push_str(if is_note { "\n" } else { line });
        }
        Ok(kept)
    }

    /// Returns the state of the group's file. Needs the lock.
    fn memory(&self, group: &str, folder: &Path) -> Result<GroupMemory, Fault> {
        let mut notes = self.engine.records().find(&self.notes_of(group))?;
        notes.retain(|record| record.attrs.contains_key(IN_FILE));
        GroupMemory::read(folder, notes, self.engine.now())
    }

    /// Writes the newest notes that the files of all groups lack; returns their number.
    pub fn repair(&self) -> Result<usize, Fault> {
        self.engine.require_memory()?;
        let mut mended = 0;
        for group in self.list()? {
            let folder = self.group_folder(&group.name)?;
            let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
            mended += self.memory(&group.name, &folder)?.repair()?;
            drop(lock);
        }
        Ok(mended)
    }
}

fn new_record(note: &NewNote) -> Result<NewRecord, Fault> {
    let content = note.content.trim();
    if !content
        .chars()
        .any(|c| !c.is_whitespace() && !c.is_control())
    {
        return Err(Fault::refused("the content of the note is empty"));
    }
    let most = limits::GROUP_NOTE_BYTES_MAX;
    if content.len() > most {
        let bytes = content.len();
        return Err(Fault::usage(format!(
            "the note has {bytes} bytes; at most {most} are allowed"
        ))
        .hint("keep the note short and refer to a file for the rest"));
    }
    let line = |given: &Option<String>, default: &str| {
        let given = given
            .as_deref()
            .map(str::trim)
            .filter(|value| !value.is_empty());
        text::one_line(given.unwrap_or(default))
    };
    let agent = line(&note.agent, AGENT_DEFAULT);
    let section = line(&note.section, SECTION_DEFAULT);
    heirloom_model::record::check_name("section", &section)
        .map_err(|bad| Fault::usage(bad.to_string()))?;
    let group = note.group.clone();
    let group = group.unwrap_or_else(|| GROUP_DEFAULT.to_owned());
    // First of all: a name with a line break must be refused instead of cleaned.
    group::check_group_name(&group).map_err(|problem| {
        Fault::refused(problem).hint("use letters, digits, `-` and `_`: the name is a folder")
    })?;
    Ok(NewRecord {
        text: content.to_owned(),
        kind: Some(Kind::Note),
        category: Some(section),
        source: Some(agent.clone()),
        scope: Scope {
            group: Some(group),
            agent: Some(agent),
            ..Scope::default()
        },
        ..NewRecord::default()
    })
}

//! Group notes, and the sections from a group's files.
//!
//! The store has a note first, then `MEMORY.md`. Notes that the file lacks, after a crash or an editor's save, are
//! written with the next note.

mod context_sections;

use super::group_memory::{GroupMemory, MEMORY, render_entry};
use super::new_record::check_scope;
use super::redaction::{Redacted, RedactedTexts};
use super::tasks::last;
use super::{Engine, NewRecord, apply_redacted};
use heirloom_formats::group::{self, AGENT_DEFAULT, GROUP_DEFAULT, SECTION_DEFAULT};
use heirloom_fs::durable;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Kind, RecordId, Scope, limits, text};
use heirloom_store::{AsOf, Change, Filter, StoreError};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Folder of groups, in the memory's folder.
const GROUPS: &str = "groups";
/// Persona files, for all groups and for one.
const PERSONAS: [&str; 2] = ["AGENT.md", "CLAUDE.md"];
/// Summary of the group's conversations.
const SUMMARY: &str = "summary.md";
/// Lock for appending.
const LOCK: &str = ".lock";
/// Attribute of records that belong into the group's file.
const IN_FILE: &str = "group_note";

/// New note for a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNote {
    /// Content.
    pub content: String,
    /// Section; `Notes` by default.
    pub section: Option<String>,
    /// Agent; `unknown` by default.
    pub agent: Option<String>,
    /// Group; `main` by default.
    pub group: Option<String>,
}

/// Report of a new note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteReport {
    /// Id of its record.
    pub id: RecordId,
    /// The group.
    pub group: String,
    /// File with the note.
    pub file: PathBuf,
    /// Number of missing earlier notes that were written again.
    pub repaired: usize,
    /// Kinds of the redacted secrets.
    pub redacted: Vec<String>,
}

/// Group with a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Name.
    pub name: String,
    /// Names of its existing files.
    pub files: Vec<&'static str>,
}

/// Files with the notes of groups of agents.
#[derive(Clone, Copy)]
pub struct Groups<'e> {
    pub(super) engine: &'e Engine,
}

impl Groups<'_> {
    /// Adds a note to a group: as a record, and at the end of its `MEMORY.md`; both are durable when it returns.
    ///
    /// Safe with any number of processes. Errors: `Refused` for a note without words, an invalid group name, links,
    /// and when memory is off; `Usage` for too long notes and invalid names.
    pub fn add_note(&self, note: &NewNote) -> Result<NoteReport, Fault> {
        self.add_note_once(note, None)
    }

    /// Adds a note as [`Self::add_note`], unless one with this key exists.
    pub(super) fn add_note_once(
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
    pub(super) fn without_notes(&self, group: &str, text: &str) -> Result<String, Fault> {
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

    /// Rewrites the group's summary with `change` under the lock; `None` changes nothing.
    pub(super) fn change_summary(
        &self,
        group: &str,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let folder = self.group_folder(group)?;
        durable::create_dir_private(&folder)?;
        let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
        let path = folder.join(SUMMARY);
        let file = super::group_files::read(&path).map_err(Fault::refused)?;
        if file.as_ref().is_some_and(|file| file.cut_bytes > 0) {
            return Err(Fault::refused(format!(
                "{} is too large",
                path.to_escaped()
            )));
        }
        let page = file.map(|file| file.text).unwrap_or_default();
        if let Some(changed) = change(&page) {
            durable::write_atomic(&path, changed.as_bytes())?;
        }
        drop(lock);
        Ok(())
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

    /// Lists the groups with a folder, by name.
    pub fn list(&self) -> Result<Vec<Group>, Fault> {
        let folder = self.engine.folder.join(GROUPS);
        refuse_link(&folder)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let place = folder.to_escaped();
                return Err(Fault::failed(format!("cannot list {place}: {error}")));
            }
        };
        let mut groups: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| group::check_group_name(name).is_ok())
            .map(|name| {
                let is_there = |file: &&str| folder.join(&name).join(file).is_file();
                let files = [PERSONAS[1], MEMORY, SUMMARY].into_iter();
                let files = files.filter(is_there).collect();
                Group { name, files }
            })
            .collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(groups)
    }

    /// Returns the folder of a group. Errors: `Refused` if it is a link.
    fn group_folder(&self, group: &str) -> Result<PathBuf, Fault> {
        self.engine.require_files()?;
        let groups = self.engine.folder.join(GROUPS);
        let folder = groups.join(group);
        refuse_link(&groups)?;
        refuse_link(&folder)?;
        Ok(folder)
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

fn refuse_link(path: &Path) -> Result<(), Fault> {
    if path.is_symlink() {
        return Err(StoreError::Linked {
            action: "use the folder",
            path: path.to_owned(),
        }
        .into());
    }
    Ok(())
}

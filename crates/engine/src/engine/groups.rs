//! What agents of a group note, and the files that a group's contexts carry.
//!
//! The store has a note first, the file `MEMORY.md` follows it: whatever the file lacks at the next note, because a
//! process died in between or an editor replaced the file without knowing of it, is written then.

use super::group_files::Text;
use super::group_memory::{GroupMemory, MEMORY};
use super::new_record::check_scope;
use super::{Engine, NewRecord};
use crate::group::{self, AGENT_DEFAULT, GROUP_DEFAULT, SECTION_DEFAULT};
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::{Fault, Kind, RecordId, Scope, limits, text};
use heirloom_store::{Change, Filter, StoreError, When, durable};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of groups, in the folder of the project's memory.
const GROUPS: &str = "groups";
/// Who the group is, for all groups and for one.
const PERSONAS: [&str; 2] = ["AGENT.md", "CLAUDE.md"];
/// The summary of its conversation.
const SUMMARY: &str = "summary.md";
/// One process at a time appends.
const LOCK: &str = ".lock";
/// Attribute of a record that has a place in the file of its group.
const IN_FILE: &str = "group_note";

/// Something that an agent notes for its group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNote {
    /// What is noted.
    pub content: String,
    /// Its section; `Notes` if it is not said.
    pub section: Option<String>,
    /// Who notes it; `unknown` if it is not said.
    pub agent: Option<String>,
    /// The group; `main` if it is not said.
    pub group: Option<String>,
}

/// What became of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Its record.
    pub id: RecordId,
    /// The group.
    pub group: String,
    /// The file that has it.
    pub file: PathBuf,
    /// Earlier notes that the file lacked and has again.
    pub mended: usize,
    /// The kinds of the secrets without which it was kept.
    pub redacted: Vec<String>,
}

/// A group that has a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Which of its files there are.
    pub files: Vec<&'static str>,
}

impl Engine {
    /// Notes something for a group: as a record, and behind what its `MEMORY.md` says; both are durable when it returns.
    ///
    /// Any number of processes may do so at once. Errors: `Refused` for a note without words, a group whose name is no
    /// folder, links, and when memory is off; `Usage` for one that is too long and for names that cannot be used.
    pub fn update_memory(&self, note: &NewNote) -> Result<Noted, Fault> {
        self.note_once(note, None)
    }

    /// As [`Engine::update_memory`]; one that was made under this key before is not made again.
    pub(super) fn note_once(&self, note: &NewNote, key: Option<&str>) -> Result<Noted, Fault> {
        self.writable()?;
        let mut redacted = Vec::new();
        let new = self.clean_new(new_record(note)?, &mut redacted);
        check_scope(&new.scope)?;
        let group = new.scope.group.clone().unwrap_or_default();
        group::check_group(&group).map_err(|problem| {
            Fault::refused(problem).hint("use letters, digits, `-` and `_`: the name is a folder")
        })?;
        let folder = self.group_folder(&group)?;
        durable::create_dir_private(&folder)?;
        let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
        let before = match key {
            Some(key) => self.noted_before(&group, key)?,
            None => None,
        };
        let mut memory = self.group_memory(&group, &folder)?;
        let mended = memory.mend()?;
        let id = match before {
            Some(id) => id,
            None => self.put_note(&new, key, &mut memory)?,
        };
        drop(lock);
        Ok(Noted {
            id,
            group,
            file: memory.path(),
            mended,
            redacted,
        })
    }

    /// Puts a note into the store, then into its file.
    fn put_note(
        &self,
        new: &NewRecord,
        key: Option<&str>,
        memory: &mut GroupMemory,
    ) -> Result<RecordId, Fault> {
        let Change::Put { mut record, merge } = self.change_of(new)? else {
            return Err(Fault::failed("a note is no new record"));
        };
        record.key = key.map(str::to_owned);
        record.attrs.insert(IN_FILE.to_owned(), true.into());
        let note = (*record).clone();
        let id = self.apply_one(Change::Put { record, merge })?.id;
        if let Err(fault) = memory.take(note) {
            // Nobody is told of a note that its file could not take. If this fails too, the next note writes it.
            drop(self.take_back(id));
            return Err(fault);
        }
        Ok(id)
    }

    fn take_back(&self, id: RecordId) -> Result<RecordId, Fault> {
        let (at, by) = (self.now(), "heirloom".to_owned());
        Ok(self.apply_one(Change::Retire { id, at, by })?.id)
    }

    fn noted_before(&self, group: &str, key: &str) -> Result<Option<RecordId>, Fault> {
        let filter = Filter {
            when: When::Ever,
            ..self.notes_of(group).key(key)
        };
        Ok(self.find(&filter)?.first().map(|record| record.id))
    }

    fn notes_of(&self, group: &str) -> Filter {
        Filter {
            scope: Scope {
                group: Some(group.to_owned()),
                ..Scope::default()
            },
            ..Filter::current(&[Kind::Note], self.now())
        }
        .limit(limits::GROUP_NOTES_COMPARED_MAX)
    }

    /// What the group's file has and should have. Whoever calls it holds the lock.
    fn group_memory(&self, group: &str, folder: &Path) -> Result<GroupMemory, Fault> {
        let mut notes = self.find(&self.notes_of(group))?;
        notes.retain(|record| record.attrs.contains_key(IN_FILE));
        GroupMemory::read(folder, notes, self.now())
    }

    /// Writes the group's summary as `change` wants it, while nobody else does; `None` changes nothing.
    pub(super) fn change_group_summary(
        &self,
        group: &str,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(), Fault> {
        self.writable()?;
        let folder = self.group_folder(group)?;
        durable::create_dir_private(&folder)?;
        let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
        let path = folder.join(SUMMARY);
        let file = super::group_files::read(&path).map_err(Fault::refused)?;
        if file.as_ref().is_some_and(|file| file.cut_bytes > 0) {
            return Err(Fault::refused(format!("{} is too large", path.display())));
        }
        let page = file.map(|file| file.text).unwrap_or_default();
        if let Some(changed) = change(&page) {
            durable::write_atomic(&path, changed.as_bytes())?;
        }
        drop(lock);
        Ok(())
    }

    /// Writes what the files of all groups lack of their newest notes; how many.
    pub fn mend_groups(&self) -> Result<usize, Fault> {
        self.writable()?;
        let mut mended = 0;
        for group in self.groups()? {
            let folder = self.group_folder(&group.name)?;
            let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
            mended += self.group_memory(&group.name, &folder)?.mend()?;
            drop(lock);
        }
        Ok(mended)
    }

    /// The groups that have a folder, by name.
    pub fn groups(&self) -> Result<Vec<Group>, Fault> {
        let folder = self.folder.join(GROUPS);
        refuse_link(&folder)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let place = folder.display();
                return Err(Fault::failed(format!("cannot list {place}: {error}")));
            }
        };
        let mut groups: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| group::check_group(name).is_ok())
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

    /// What the files of a group have for a prompt: who it is, what it learned, what was said. Reads no file twice that
    /// has not changed, and writes nothing.
    ///
    /// Three sections; a file that is absent or blank has no offer, and one that cannot be read a note. Errors: `Refused`
    /// for a group whose name is no folder.
    pub fn group_sections(&self, group: &str) -> Result<Vec<Section>, Fault> {
        group::check_group(group).map_err(Fault::refused)?;
        let groups = self.folder.join(GROUPS);
        let folder = groups.join(group);
        let mut persona = section("group", "", Layout::Blocks);
        let mut facts = section("group-facts", "## Remembered Facts", Layout::BlocksReversed);
        let mut summary = section("group-summary", "## Conversation Summary", Layout::Blocks);
        for link in [&groups, &folder] {
            if let Err(fault) = refuse_link(link) {
                persona.notes.push(fault.message);
                return Ok(vec![persona, facts, summary]);
            }
        }
        let places = [groups.join(PERSONAS[0]), folder.join(PERSONAS[1])];
        for path in places {
            let Some(file) = self.file_of(&path, &mut persona.notes) else {
                continue;
            };
            if file.cut_bytes > 0 {
                let most = limits::GROUP_FILE_BYTES_MAX;
                let place = self.shown(&path);
                persona.notes.push(format!(
                    "{place} is left out: it has more than {most} bytes"
                ));
            } else {
                persona
                    .offers
                    .push(self.group_offer(&path, None, &file.text));
            }
        }
        let path = folder.join(MEMORY);
        if let Some(file) = self.file_of(&path, &mut facts.notes) {
            let parts = group::blocks(&file.text).into_iter().rev();
            let line = |line| (file.cut_bytes == 0).then_some(line);
            let offers = parts.map(|(at, part)| self.group_offer(&path, line(at), part));
            facts.offers.extend(offers);
            facts.notes.extend(self.cut_note(&path, &file));
        }
        let path = folder.join(SUMMARY);
        if let Some(file) = self.file_of(&path, &mut summary.notes) {
            summary
                .offers
                .push(self.group_offer(&path, None, &file.text));
            summary.notes.extend(self.cut_note(&path, &file));
        }
        Ok(vec![persona, facts, summary])
    }

    /// What a file says, if it says something.
    fn file_of(&self, path: &Path, notes: &mut Vec<String>) -> Option<std::sync::Arc<Text>> {
        match self.files.read(path) {
            Ok(file) => file.filter(|file| !file.text.trim().is_empty()),
            Err(problem) => {
                notes.push(problem);
                None
            }
        }
    }

    fn group_offer(&self, path: &Path, line: Option<u32>, said: &str) -> Offer {
        Offer {
            origin: Origin::File {
                path: self.shown(path),
                line,
            },
            text: self.clean(said).into_owned(),
            ..Offer::default()
        }
    }

    fn cut_note(&self, path: &Path, file: &Text) -> Option<String> {
        let place = self.shown(path);
        let cut = file.cut_bytes;
        (cut > 0).then(|| format!("{place} is read without its first {cut} bytes"))
    }

    /// A path as people see it: relative to the project where it is in it.
    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        shown.to_string_lossy().into_owned()
    }

    /// The folder of a group. Errors: `Refused` where a link leads there.
    fn group_folder(&self, group: &str) -> Result<PathBuf, Fault> {
        let groups = self.folder.join(GROUPS);
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
        return Err(Fault::refused(
            "there is nothing to note: the content is empty",
        ));
    }
    let most = limits::GROUP_NOTE_BYTES_MAX;
    if content.len() > most {
        let bytes = content.len();
        return Err(Fault::usage(format!(
            "the note has {bytes} bytes; at most {most} are allowed"
        ))
        .hint("note the point, and keep the rest in a file that it names"));
    }
    let said = |given: &Option<String>, default: &str| {
        let given = given
            .as_deref()
            .map(str::trim)
            .filter(|said| !said.is_empty());
        text::one_line(given.unwrap_or(default))
    };
    let agent = said(&note.agent, AGENT_DEFAULT);
    let section = said(&note.section, SECTION_DEFAULT);
    heirloom_model::record::check_name("section", &section)
        .map_err(|bad| Fault::usage(bad.to_string()))?;
    let group = note.group.clone();
    let group = group.unwrap_or_else(|| GROUP_DEFAULT.to_owned());
    // Before it is anything else: a name with a line break must be refused and not be cleaned.
    group::check_group(&group).map_err(|problem| {
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

fn section(name: &str, heading: &str, layout: Layout) -> Section {
    Section {
        layout,
        name: name.to_owned(),
        heading: heading.to_owned(),
        ..Section::default()
    }
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

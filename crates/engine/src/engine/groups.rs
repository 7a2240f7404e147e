//! Group notes, and the sections from a group's files.
//!
//! The store has a note first, then `MEMORY.md`. Notes that the file lacks, after a crash or an editor's save, are
//! written with the next note.

mod context_sections;
pub(super) mod file_cache;
mod group_folders;
mod memory_file;
mod note_writer;
mod summary_file;

pub(super) use file_cache::GroupFileCache;
pub(super) use memory_file::MEMORY;

use super::Engine;
use heirloom_model::RecordId;
use std::path::PathBuf;

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

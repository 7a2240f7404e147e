//! The mirror of a run's memory, `memory.json`: its exact form, reading it and writing it.
//!
//! Pure: bytes in, bytes out; the engine reads and writes the file. Reading is lenient: what cannot be
//! used is reported and skipped, the rest is kept. Writing is exact: the same mirror gives the same bytes,
//! and what was read is written again, fields that Heirloom does not know included.

mod entries;
mod keep;
mod read;
mod repair;

use heirloom_model::record::Attrs;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a run remembers, in the form of `memory.json`. Fields stand in the order of the file; an empty
/// text or list is one that is not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorFile {
    /// The run.
    pub session_id: String,
    /// The repository.
    pub repository: String,
    /// The last iteration, from 1; 0 before the first.
    pub iteration: u32,
    /// Tasks by id.
    pub tasks: BTreeMap<String, MirrorTask>,
    /// Decisions, oldest first.
    pub decisions: Vec<MirrorDecision>,
    /// Errors, oldest first.
    pub errors: Vec<MirrorMistake>,
    /// Facts, oldest first.
    pub key_facts: Vec<String>,
    /// When it was written, RFC 3339; empty stands as the year 1, as other writers have it.
    #[serde(serialize_with = "write_time")]
    pub last_checkpoint: String,
    /// What another writer added.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// One task of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorTask {
    /// Its id.
    pub id: String,
    /// `issue`, `pr`, or any other word.
    #[serde(rename = "type")]
    pub task_type: String,
    /// The phase it is in.
    pub phase: String,
    /// Its branch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub branch: String,
    /// Its pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<PrNumber>,
    /// Steps that are done, oldest first.
    pub completed_steps: Vec<String>,
    /// Steps that are still to do, the next one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_steps: Vec<String>,
    /// Why it cannot go on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub blocked_reason: String,
    /// Files modified, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// What another writer added.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// The number of a pull request: writers differ in whether it is a number, and a strict one reads
/// only its own form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PrNumber {
    /// `7`
    Number(u64),
    /// `"7"` or `"#7"`
    Text(String),
}

impl PrNumber {
    /// The number, if the text is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().trim_start_matches('#').parse().ok(),
        }
    }
}

/// One decision of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorDecision {
    /// The iteration in which it was taken.
    pub iteration: u32,
    /// The task that it was taken in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// What was decided.
    pub description: String,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    /// What another writer added.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// One error of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorMistake {
    /// The iteration in which it happened.
    pub iteration: u32,
    /// The task that it happened in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The phase in which it happened.
    pub phase: String,
    /// The error.
    pub error: String,
    /// How it was mended.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resolution: String,
    /// Whether it was mended.
    pub resolved: bool,
    /// What another writer added.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// A mirror that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it says.
    pub file: MirrorFile,
    /// The form in which it stood.
    pub form: MirrorForm,
    /// What could not be used, in the order of the file; at most `DIAGNOSTICS_MAX`.
    pub diagnostics: Vec<MirrorDiagnostic>,
}

/// The forms of a `memory.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MirrorForm {
    /// `{session_id, repository, iteration, tasks, …}`: what Heirloom writes.
    Session,
    /// `{version, entries[]}`: Agentium's later form, one entry a signal.
    Entries,
}

/// A part of a mirror that could not be used as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorDiagnostic {
    /// Where it is, as `tasks.42.phase` or `errors[3]`; empty for the file as a whole.
    pub at: String,
    /// What is wrong, and what became of it.
    pub message: String,
}

/// A file that is no mirror at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct MirrorError {
    /// The line of the problem, from 1.
    pub line: usize,
    /// Its column in bytes, from 1; 0 where the line as a whole is meant.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a mirror in one of its forms.
///
/// An error means that the file is no JSON object. A byte order mark is skipped; invalid UTF-8 and lone
/// surrogates become `\u{fffd}`; `null` reads as empty; a value of the wrong type is skipped; each with
/// a diagnostic, but for the mark and `null`. The caller bounds the size.
pub fn parse(bytes: &[u8]) -> Result<Parsed, MirrorError> {
    let repaired = repair::repair(bytes);
    let object = read::object(&repaired.text)?;
    let mut reader = read::Reader::new(repaired.diagnostics);
    let (file, form) = if entries::is_form(&object) {
        (entries::read(&mut reader, object), MirrorForm::Entries)
    } else {
        (reader.file(object), MirrorForm::Session)
    };
    Ok(Parsed {
        file,
        form,
        diagnostics: reader.finish(),
    })
}

/// The bytes of `memory.json`: two blanks an indent, a line break at the end, the same for the same mirror.
pub fn to_json(file: &MirrorFile) -> Vec<u8> {
    match serde_json::to_vec_pretty(file) {
        Ok(mut bytes) => {
            bytes.push(b'\n');
            bytes
        }
        Err(error) => unreachable!("every key of a mirror is text: {error}"),
    }
}

/// How writers without a time write it: the zero time of Go.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

fn write_time<S: serde::Serializer>(time: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if time.is_empty() { NO_TIME } else { time })
}

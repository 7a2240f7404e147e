//! Format of the mirror of a run's memory, `memory.json`: reading and writing.
//!
//! Pure: bytes in, bytes out; the engine reads and writes the file. Reading is lenient: unusable parts are reported
//! and skipped, the rest is kept. Writing is exact: equal mirrors give equal bytes, and fields that Heirloom does not
//! know are preserved.

mod encoding_repair;
mod entry_list;
mod mirror_parser;
mod mirror_time;
mod unknown_fields;

pub use mirror_time::{format_time, parse_time};

use heirloom_model::record::Attrs;
use serde::Serialize;
use std::collections::BTreeMap;

/// Memory of a run in the format of `memory.json`. Fields have the order of the file; an empty text or list is a
/// missing one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorFile {
    /// Id of the run.
    #[serde(rename = "session_id")]
    pub session_id: String,
    /// Repository.
    #[serde(rename = "repository")]
    pub repository: String,
    /// Last iteration, from 1; 0 before the first.
    #[serde(rename = "iteration")]
    pub iteration: u32,
    /// Tasks by id.
    #[serde(rename = "tasks")]
    pub tasks: BTreeMap<String, MirrorTask>,
    /// Decisions, oldest first.
    #[serde(rename = "decisions")]
    pub decisions: Vec<MirrorDecision>,
    /// Errors, oldest first.
    #[serde(rename = "errors")]
    pub errors: Vec<MirrorErrorItem>,
    /// Facts, oldest first.
    #[serde(rename = "key_facts")]
    pub key_facts: Vec<String>,
    /// Time of writing, RFC 3339; empty is written as the year 1, as other writers do.
    #[serde(serialize_with = "mirror_time::write_time")]
    #[serde(rename = "last_checkpoint")]
    pub last_checkpoint: String,
    /// Fields of other writers.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// One task of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorTask {
    /// Id of the task.
    #[serde(rename = "id")]
    pub id: String,
    /// `issue`, `pr`, or any other word.
    #[serde(rename = "type")]
    pub task_type: String,
    /// Current phase.
    #[serde(rename = "phase")]
    pub phase: String,
    /// Branch.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "branch")]
    pub branch: String,
    /// Pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "pr_number")]
    pub pr_number: Option<PrNumber>,
    /// Steps that are done, oldest first.
    #[serde(rename = "completed_steps")]
    pub completed_steps: Vec<String>,
    /// Steps that are still to do, the next one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "pending_steps")]
    pub pending_steps: Vec<String>,
    /// Reason for which the task is blocked.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "blocked_reason")]
    pub blocked_reason: String,
    /// Files modified, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "files_modified")]
    pub files_modified: Vec<String>,
    /// Fields of other writers.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// Number of a pull request. Writers differ in its JSON type, and a strict reader accepts only its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PrNumber {
    /// `7`
    Number(u64),
    /// `"7"` or `"#7"`
    Text(String),
}

impl PrNumber {
    /// Returns the number, if the text is one.
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
    /// Iteration of the decision.
    #[serde(rename = "iteration")]
    pub iteration: u32,
    /// Task of the decision.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "task_id")]
    pub task_id: String,
    /// Text of the decision.
    #[serde(rename = "description")]
    pub description: String,
    /// Rationale.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "rationale")]
    pub rationale: String,
    /// Fields of other writers.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// One error of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MirrorErrorItem {
    /// Iteration of the error.
    #[serde(rename = "iteration")]
    pub iteration: u32,
    /// Task of the error.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "task_id")]
    pub task_id: String,
    /// Phase of the error.
    #[serde(rename = "phase")]
    pub phase: String,
    /// Text of the error.
    #[serde(rename = "error")]
    pub error: String,
    /// Resolution.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "resolution")]
    pub resolution: String,
    /// True if the error is resolved.
    #[serde(rename = "resolved")]
    pub resolved: bool,
    /// Fields of other writers.
    #[serde(flatten)]
    pub extra: Attrs,
}

/// Keys of a mirror, of which a file of another purpose has at most one.
const MIRROR_KEYS: [&str; 6] = [
    "session_id",
    "last_checkpoint",
    "tasks",
    "decisions",
    "errors",
    "key_facts",
];

/// A parsed mirror.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedMirror {
    /// Content of the mirror.
    pub file: MirrorFile,
    /// Format of the file.
    pub form: MirrorFormat,
    /// True if the file has keys of a mirror; any JSON object can be parsed.
    pub has_mirror_keys: bool,
    /// Diagnostics of unusable parts, in the order of the file; at most `DIAGNOSTICS_MAX`.
    pub diagnostics: Vec<MirrorDiagnostic>,
}

/// Formats of a `memory.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MirrorFormat {
    /// `{session_id, repository, iteration, tasks, …}`: the format that Heirloom writes.
    Session,
    /// `{version, entries[]}`: the later format of Agentium, one entry for each signal.
    Entries,
}

/// Diagnostic of an unusable part of a mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorDiagnostic {
    /// Path of the part, such as `tasks.42.phase` or `errors[3]`; empty for the whole file.
    pub at: String,
    /// Problem and consequence.
    pub message: String,
}

/// Error for a file that is not a mirror.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct MirrorError {
    /// Line of the problem, from 1.
    pub line: usize,
    /// Column in bytes, from 1; 0 for the whole line.
    pub column: usize,
    /// Description of the problem.
    pub message: String,
}

/// Parses a mirror in any format.
///
/// An error means that the file is not a JSON object. A byte order mark is skipped; invalid UTF-8 and lone surrogates
/// become `\u{fffd}`; `null` reads as empty; a value of the wrong type is skipped. All but the byte order mark and
/// `null` give a diagnostic. The caller bounds the size.
pub fn parse(bytes: &[u8]) -> Result<ParsedMirror, MirrorError> {
    let repaired = encoding_repair::repair(bytes);
    let object = mirror_parser::parse_object(&repaired.text)?;
    let mut reader = mirror_parser::MirrorReader::new(repaired.diagnostics);
    let keys = MIRROR_KEYS.iter().filter(|key| object.contains_key(**key));
    let has_mirror_keys = keys.count() > 1 || entry_list::is_entry_list(&object);
    let (file, form) = if entry_list::is_entry_list(&object) {
        (
            entry_list::read_entries(&mut reader, object),
            MirrorFormat::Entries,
        )
    } else {
        (reader.read_file(object), MirrorFormat::Session)
    };
    Ok(ParsedMirror {
        file,
        form,
        has_mirror_keys,
        diagnostics: reader.finish(),
    })
}

/// Returns the bytes of `memory.json`: indented by two blanks, with a line break at the end, equal for equal mirrors.
pub fn to_json(file: &MirrorFile) -> Vec<u8> {
    match serde_json::to_vec_pretty(file) {
        Ok(mut bytes) => {
            bytes.push(b'\n');
            bytes
        }
        Err(error) => unreachable!("every key of a mirror is text: {error}"),
    }
}

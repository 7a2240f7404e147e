//! Answers of imports and exports.

use super::context::Diagnostic;
use super::record::Record;
use super::sessions::{MessageLine, SessionLine};
use crate::schema_files::{AnswerSchema, Ref, Time};
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<ImportAnswer>("import.json", &["import"]),
        AnswerSchema::lines::<ExportLine>("export.json", &["export"]),
    ]
}

/// The result of an import; with `--index` the files.
#[derive(JsonSchema)]
#[serde(untagged)]
enum ImportAnswer {
    Import(ImportReport),
    Transcripts(Box<TranscriptsReport>),
    Index(FileIndex),
}

#[derive(JsonSchema)]
pub(super) struct ImportReport {
    created: u64,
    known: u64,
    /// The id that `undo` takes; `null` if nothing was new, and with `--dry-run`.
    import: Option<String>,
    diagnostics: Vec<Diagnostic>,
    /// The number of entries with a secret, which was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<u64>,
}

#[derive(JsonSchema)]
struct TranscriptsReport {
    #[serde(flatten)]
    report: ImportReport,
    /// The number of files.
    files: u64,
    read_bytes: u64,
    left: LeftFiles,
    /// Lines that are too long.
    long_lines: u64,
    unreadable_lines: u64,
}

/// Files that were left.
#[derive(JsonSchema)]
struct LeftFiles {
    /// Recorded in a folder inside of the project; `--all` imports them.
    inside: u64,
    /// Recorded elsewhere.
    elsewhere: u64,
    /// Recorded in a folder that is not known.
    unknown: u64,
    no_transcripts: u64,
}

#[derive(JsonSchema)]
struct FileIndex {
    files: Vec<IndexedFile>,
}

#[derive(JsonSchema)]
struct IndexedFile {
    path: String,
    size: u64,
    summary: String,
}

/// A line of `--format jsonl`, or the result of `--format radium`. The formats `agentium` and `markdown` have no schema:
/// they print a `memory.json` and Markdown.
#[derive(JsonSchema)]
#[serde(untagged)]
enum ExportLine {
    Record(Ref<Record>),
    Session(Box<SessionLine>),
    Message(Box<MessageLine>),
    Lapse(LapseLine),
    Written(WrittenOutputs),
}

/// A time during which a record was not current that is current again.
#[derive(JsonSchema)]
struct LapseLine {
    kind: LapseKind,
    /// The id of the record, which precedes this line.
    record: String,
    retired_at: Time,
    restored_at: Time,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LapseKind {
    Lapse,
}

#[derive(JsonSchema)]
struct WrittenOutputs {
    /// Files that were written.
    files: Vec<String>,
    /// Files that are newer and stay.
    kept: Vec<String>,
}

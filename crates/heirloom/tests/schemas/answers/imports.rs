//! Answers of imports and exports.

use super::context::Diagnostic;
use super::record::Record;
use super::sessions::{MessageLine, SessionLine};
use crate::schema_files::{AnswerSchema, Ref, Time};
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<ImportAnswer>("import.json", &["import"]),
        AnswerSchema::value::<LearnAnswer>("learn.json", &["learn"]),
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
    /// Entries of another program's memory that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<Omission>>,
}

/// A number of entries that were left out for one reason.
#[derive(JsonSchema)]
struct Omission {
    reason: String,
    count: u64,
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
    /// Records that were learned from the conversations.
    lessons: u64,
    /// Folders of skipped conversations that do not exist any more, those with the most conversations first.
    former_folders: Vec<FormerFolder>,
}

#[derive(JsonSchema)]
struct FormerFolder {
    folder: String,
    conversations: u64,
}

/// The lessons of one conversation, or with `--all` the counts of all.
#[derive(JsonSchema)]
#[serde(untagged)]
enum LearnAnswer {
    Session(SessionLessons),
    All(LearnedConversations),
}

/// Records that lessons wrote; nothing with `--dry-run`.
#[derive(JsonSchema)]
struct LessonCounts {
    dry_run: bool,
    /// The id that `undo` takes.
    batch: Option<String>,
    created: u64,
    changed: u64,
    confirmed: u64,
    retired: u64,
}

#[derive(JsonSchema)]
struct SessionLessons {
    #[serde(flatten)]
    counts: LessonCounts,
    session: String,
    lessons: Vec<LessonLine>,
    /// Records that the conversation does not support any more, or that a model dropped.
    retirements: Vec<LessonChangeLine>,
    /// True if the transcript that the session was learned from is not found: only lessons that were reverted are
    /// stored again.
    lacks_transcript: bool,
    /// With `--judge`, if the model judged something.
    judged: Option<JudgedCandidates>,
}

/// Verdicts of a model.
#[derive(JsonSchema)]
struct JudgedCandidates {
    model: String,
    /// Candidates with a verdict.
    verdicts: u64,
    /// Further texts of a person that it picked.
    spans: u64,
}

#[derive(JsonSchema)]
struct LearnedConversations {
    #[serde(flatten)]
    counts: LessonCounts,
    /// Conversations that were read.
    sessions: u64,
    /// Conversations that stay as they are, because their transcripts are not found.
    lacking: u64,
    /// Lessons that were kept.
    lessons: u64,
    /// Changes in the store.
    changes: Vec<LessonChangeLine>,
}

/// A change of a stored lesson.
#[derive(JsonSchema)]
struct LessonChangeLine {
    /// `new`, `changes` or `retires`.
    effect: String,
    /// The category of knowledge, or the kind of the record.
    what: String,
    text: String,
    /// The record that is changed or retired.
    record: Option<String>,
}

/// A candidate with the decision on it; without `--explain` only kept ones.
#[derive(JsonSchema)]
struct LessonLine {
    kept: bool,
    /// The effect on the store, or why it was dropped, in words.
    outcome: String,
    /// Reason for dropping it.
    reason: Option<String>,
    /// The record that it changes or confirms.
    record: Option<String>,
    /// The part of the conversation from which it was taken.
    source: String,
    /// `person`, `agent` or `program`.
    speaker: String,
    /// From 0 to 1.
    worth: f64,
    /// The category of knowledge, or `error`, `episode`, `steps`.
    what: String,
    text: String,
    evidence: Vec<LessonEvidence>,
    /// The opinion of the model that judged it.
    opinion: Option<LessonOpinion>,
}

/// Opinion of a model on a candidate.
#[derive(JsonSchema)]
struct LessonOpinion {
    /// `keep`, `drop`, `wrong`, `same_as` or `replaced_by`.
    verdict: String,
    /// Text of the candidate that the verdict names.
    other: Option<String>,
    /// True if the decision follows it.
    followed: bool,
}

/// A line of the conversation.
#[derive(JsonSchema)]
struct LessonEvidence {
    /// The id of the message.
    message: String,
    line: String,
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

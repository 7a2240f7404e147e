//! Records, hits, events and outcomes: the parts of most answers.

use crate::schema_files::{AnswerSchema, Ref, SchemaFile, Time, True};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::part::<Record>(),
        AnswerSchema::part::<Hit>(),
        AnswerSchema::part::<Event>(),
        AnswerSchema::part::<ErrorLine>(),
        AnswerSchema::value::<ShowAnswer>("show.json", &["show"]),
        AnswerSchema::value::<Records>("records.json", &["list"]),
        AnswerSchema::value::<HistoryAnswer>("history.json", &["history"]),
        AnswerSchema::value::<RecallAnswer>("recall.json", &["recall"]),
    ]
}

/// A record: its columns, and the attributes of its kind at the same level. Times are RFC 3339 in UTC; a column that
/// is not known is `null`; attributes that are empty are left out. An import may bring attributes that are not listed.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct Record {
    id: String,
    project: String,
    kind: Kind,
    /// Knowledge: the name under which it has one value. Task: its id.
    key: Option<String>,
    text: String,
    plan: Option<String>,
    group: Option<String>,
    session: Option<String>,
    task: Option<String>,
    agent: Option<String>,
    phase: Option<String>,
    iteration: Option<u32>,
    /// The agent, user or import that wrote it.
    source: String,
    /// From 0 to 1.
    confidence: f64,
    tokens: u32,
    recorded_at: Time,
    true_from: Option<Time>,
    true_to: Option<Time>,
    retired_at: Option<Time>,
    replaced_by: Option<String>,
    expires_at: Option<Time>,
    #[serde(flatten)]
    attributes: Attributes,
}

impl SchemaFile for Record {
    const NAME: &'static str = "record.json";
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Knowledge,
    Task,
    Step,
    Error,
    Episode,
    Artifact,
    Output,
    Note,
    Summary,
}

/// Attributes of all kinds; a kind has some of them.
#[derive(JsonSchema)]
struct Attributes {
    /// Knowledge and notes: `fact`, `decision`, `learning`, `convention` or another word.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Knowledge: the reason of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    /// Knowledge: the number of confirmations.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmations: Option<u32>,
    /// Knowledge: the time of the last confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<Time>,
    /// Knowledge: an agent proposed it, and no person accepted it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<bool>,
    /// Knowledge: it lost a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<bool>,
    /// Knowledge: the time at which its conflict was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    arbitrated: Option<Time>,
    /// Knowledge: sources of the same weight disagree, and the conflict is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    disputed: Option<bool>,
    /// Knowledge: the person or orchestrator who confirmed the value of another source.
    #[serde(skip_serializing_if = "Option::is_none")]
    vouched_by: Option<String>,
    /// Task: `issue`, `pr` or another word. Artifact: `file`, `patch`, `test`, `document` or `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// Task: its title, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pr_number: Option<u64>,
    /// Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_reason: Option<String>,
    /// Task: `open`, `done` or `failed`. Step: `pending` or `done`. Error: `open` or `resolved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    /// Error: how it was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<String>,
    /// Error: how often it came again.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<u32>,
    /// Error: the time at which it came last.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated_at: Option<Time>,
    /// Episode: `attempted`, `completed`, `failed` or `retried`.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    approach: Option<String>,
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    /// Episode: the files that it changed, the most changed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<String>>,
    /// Episode: names of functions and types that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbols: Option<Vec<String>>,
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in: Option<u64>,
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_out: Option<u64>,
    /// Artifact: the file, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// Artifact: SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    /// Output.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    /// Output: the text, if it is longer than `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<String>,
    /// Output: bytes at the beginning that are not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_bytes: Option<u64>,
    /// Entry of a workspace file: the file. Output: fields of the file that it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<TextOrFields>,
    /// Entry of a workspace file: its line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// Entry of a workspace file: the heading above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
    /// Shared knowledge: the person who shared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Shared knowledge: a hash of its text in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Shared knowledge: the name of its entry in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// Note for a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_note: Option<bool>,
    /// A person marked it as pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<bool>,
    /// A person marked it as muted.
    #[serde(skip_serializing_if = "Option::is_none")]
    muted: Option<bool>,
    /// Number of times that a person marked it as useful, less those as not useful, limited both ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    useful: Option<i64>,
    /// Attributes with the name of a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    attrs: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Pending,
    Done,
    Failed,
    Resolved,
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum TextOrFields {
    Text(String),
    Fields(Map<String, Value>),
}

/// The record, and how often contexts and recalls delivered it.
#[derive(JsonSchema)]
struct ShowAnswer {
    #[serde(flatten)]
    record: Record,
    used: u64,
    last_used: Option<Time>,
}

/// Records, newest first. With `--as-of` they contain their later changes; with `--conflicts` they are what lost a
/// conflict that is open.
#[derive(JsonSchema)]
pub(crate) struct Records {
    records: Vec<Ref<Record>>,
}

/// A hit of a recall.
#[derive(JsonSchema)]
pub(crate) struct Hit {
    id: String,
    kind: HitKind,
    text: String,
    /// The text with the fix of an error, the reason of a decision or the outcome of an episode, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    /// The sum of the parts from `fused` on.
    score: f64,
    /// The calibrated chance that it is about the question, 0 to 1; missing if the question has only filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<HitGrade>,
    /// The coordinates of its scope that are set.
    scope: SetScope,
    source: String,
    recorded_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// File of a workspace entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    true_from: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    true_to: Option<Time>,
    /// Sources disagree, and the conflict is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    disputed: Option<True>,
    /// Ids of near-duplicates with a slightly lower rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    folded: Option<Vec<String>>,
    /// With `--explain`, the parts of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Parts>,
    /// The hit is from the person's own memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<HitOwner>,
}

/// The grade of a hit's relevance; weak hits are only returned on request.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HitGrade {
    Strong,
    Likely,
    Possible,
    Weak,
}

impl SchemaFile for Hit {
    const NAME: &'static str = "hit.json";
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HitOwner {
    User,
}

/// Kind of the record; `message` for a turn of a conversation.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HitKind {
    Knowledge,
    Task,
    Step,
    Error,
    Episode,
    Artifact,
    Output,
    Note,
    Summary,
    Message,
}

#[derive(JsonSchema)]
struct SetScope {
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<u32>,
}

#[derive(JsonSchema)]
struct Parts {
    lexical: f64,
    vector: f64,
    /// Cosine of the sentence vectors; 0 without them.
    sentence: f64,
    fused: f64,
    conversation: f64,
    pairs: f64,
    phrases: f64,
    exact: f64,
    dates: f64,
    speaker: f64,
    recency: f64,
    confidence: f64,
    scope: f64,
    kind: f64,
    confirmations: f64,
    useful: f64,
    /// Difference to the score of its place, for a record that shares an identifier with a strong hit.
    hop: f64,
    total: f64,
}

#[derive(JsonSchema)]
struct RecallAnswer {
    /// Turns of conversations, best first: the best turn of each of at most three conversations, or all that were asked for.
    conversations: Vec<Ref<Hit>>,
    /// Records, best first; with equal scores the older one. Conversations do not affect them. Turns, if they were asked for as a kind.
    hits: Vec<Ref<Hit>>,
    /// The number of hits that were left out because their relevance is too low.
    weak: u64,
    took_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<String>>,
}

/// A change in the history.
#[derive(JsonSchema)]
pub(crate) struct Event {
    at: Time,
    action: EventAction,
    by: String,
    /// The record; `null` for an import.
    id: Option<String>,
    /// The other record involved.
    other: Option<String>,
    /// The id of the import.
    import: Option<String>,
    detail: Option<Value>,
}

impl SchemaFile for Event {
    const NAME: &'static str = "event.json";
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EventAction {
    Created,
    Replaced,
    Conflict,
    Confirmed,
    Retired,
    Restored,
    Imported,
    Reversed,
    Purged,
    Resolved,
    Reopened,
    Marked,
}

#[derive(JsonSchema)]
struct HistoryAnswer {
    /// The versions of the record, oldest first; without an id none.
    records: Vec<Ref<Record>>,
    /// Their changes, oldest first; without an id the newest changes of all records, newest first.
    events: Vec<Ref<Event>>,
}

/// An error, on standard error.
#[derive(JsonSchema)]
pub(crate) struct ErrorLine {
    error: ErrorBody,
}

impl SchemaFile for ErrorLine {
    const NAME: &'static str = "error.json";
}

#[derive(JsonSchema)]
struct ErrorBody {
    /// It belongs to the exit code: 1, 2, 3, 4 and 130.
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ErrorKind {
    Failed,
    Usage,
    NotFound,
    Refused,
    Interrupted,
}

/// Number of records of each kind; a kind without records is left out.
pub(super) type Counts = BTreeMap<String, u64>;

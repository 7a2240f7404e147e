//! Answers about conversations, their windows, and benchmarks of both.

use crate::schema_files::{AnswerSchema, Time};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<TurnAdded>("session-add.json", &["session add"]),
        AnswerSchema::value::<SessionContent>("session-show.json", &["session show"]),
        AnswerSchema::value::<SessionSummary>("session-summary.json", &["session summary"]),
        AnswerSchema::value::<TurnHits>("session-search.json", &["session search"]),
        AnswerSchema::value::<SessionExport>("session-export.json", &["session export"]),
        AnswerSchema::value::<ArchivedContent>("expand.json", &["expand"]),
        AnswerSchema::value::<CompactionReport>("compact-report.json", &[]),
        AnswerSchema::value::<BenchRecall>("bench-recall.json", &["bench recall"]),
        AnswerSchema::value::<BenchWindow>("bench-window.json", &["bench window"]),
    ]
}

#[derive(JsonSchema)]
struct TurnAdded {
    session: String,
    seq: u64,
    id: String,
}

/// A conversation, as a line of an export.
#[derive(JsonSchema)]
pub(super) struct SessionLine {
    kind: SessionKind,
    id: String,
    agent: Option<String>,
    task: Option<String>,
    started_at: Time,
    ended_at: Option<Time>,
    attrs: Map<String, Value>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SessionKind {
    Session,
}

/// A turn of a conversation, as a line of an export.
#[derive(JsonSchema)]
pub(super) struct MessageLine {
    kind: MessageKind,
    session: String,
    seq: u64,
    id: String,
    role: Role,
    sender: Option<String>,
    text: String,
    attrs: Map<String, Value>,
    tokens: u32,
    at: Time,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MessageKind {
    Message,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
    System,
    Tool,
    ToolCall,
    ToolResult,
}

#[derive(JsonSchema)]
struct SessionContent {
    #[serde(flatten)]
    session: SessionLine,
    messages: Vec<MessageLine>,
}

#[derive(JsonSchema)]
struct SessionSummary {
    session: String,
    interactions: u64,
    /// The number of interactions that are told in full.
    live: u64,
    /// Lines for the last five interactions.
    summary: Vec<String>,
    /// Lines for the interactions that are not told in full any more.
    older: Vec<String>,
}

/// Turns, best first.
#[derive(JsonSchema)]
struct TurnHits {
    hits: Vec<TurnHit>,
}

#[derive(JsonSchema)]
struct TurnHit {
    id: String,
    session: String,
    seq: u64,
    role: Role,
    sender: Option<String>,
    text: String,
    at: Time,
    score: f64,
}

/// A `history.json`, oldest first; with `--windows` the state of the session's windows.
#[derive(JsonSchema)]
#[serde(untagged)]
enum SessionExport {
    /// Interactions with `timestamp`, `goal`, `plan`, `output` and `metadata`, and the fields that came with an import.
    History(Vec<Map<String, Value>>),
    Windows(SessionWindows),
}

#[derive(JsonSchema)]
struct SessionWindows {
    session: String,
    messages: u64,
    /// The index of the first message that is not summarised.
    boundary: u64,
    /// Ids of content that the windows keep complete.
    expanded: Vec<String>,
    /// Summaries that a model wrote.
    summaries: Vec<WrittenSummary>,
    /// Files with the messages that the last window left out.
    archives: Vec<Archive>,
}

#[derive(JsonSchema)]
struct WrittenSummary {
    id: String,
    model: Option<String>,
    at: Option<Time>,
    text: String,
}

#[derive(JsonSchema)]
struct Archive {
    id: String,
    file: Option<String>,
}

/// Content that a window shortened or left out.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ArchivedContent {
    Output {
        id: String,
        file: String,
        text: String,
    },
    /// Messages in the form in which they came.
    Messages {
        id: String,
        file: String,
        messages: Vec<Value>,
    },
}

/// The file that `heirloom compact --report` writes. Indexes are those of the input, except `first_changed` and
/// `breakpoints`.
#[derive(JsonSchema)]
struct CompactionReport {
    tokens_before: u64,
    tokens_after: u64,
    counting: Counting,
    estimate: EstimatedTokens,
    chars_per_token: f64,
    /// True if `usage` in the input calibrated the characters per token.
    calibrated: bool,
    /// The index of the first message that is not summarised.
    boundary: u64,
    actions: Vec<CompactionAction>,
    /// True if this request does not begin with the previous one.
    stepped: bool,
    /// The index in the output of the first message that the last step changed.
    first_changed: Option<u64>,
    /// Indexes in the output after which a cache breakpoint pays.
    breakpoints: Vec<u64>,
    /// The number of thinking parts that were left out.
    thinking_dropped: u64,
    summary: Option<WindowSummary>,
    shortened: Vec<ShortenedOutput>,
    dropped: Vec<DroppedRange>,
    /// Tokens of uncached input.
    cost: WindowCost,
    /// The reason why the window exceeds its target.
    over: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Counting {
    Estimate,
    Exact,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CompactionAction {
    Anchor,
    Overflow,
    Stale,
    Repeat,
    Summary,
    Fallback,
    Missing,
    Orphan,
}

#[derive(JsonSchema)]
struct EstimatedTokens {
    tokens_before: u64,
    tokens_after: u64,
}

#[derive(JsonSchema)]
struct WindowSummary {
    id: String,
    /// True if a model wrote it.
    written: bool,
}

#[derive(JsonSchema)]
struct ShortenedOutput {
    index: u64,
    id: String,
    tool: Option<String>,
    chars_before: u64,
    chars_after: u64,
}

#[derive(JsonSchema)]
struct DroppedRange {
    from: u64,
    to: u64,
    id: String,
}

#[derive(JsonSchema)]
struct WindowCost {
    /// Without a window.
    none: u64,
    window: u64,
}

#[derive(JsonSchema)]
struct BenchRecall {
    documents: u64,
    queries: u64,
    took_us: Quantiles,
}

#[derive(JsonSchema)]
struct Quantiles {
    p50: u64,
    p99: u64,
}

#[derive(JsonSchema)]
struct BenchWindow {
    /// True if tokens are counted, not estimated.
    exact: bool,
    /// The name of the policy.
    policy: String,
    files: Vec<ReplayedFile>,
    /// By policy: `none`, the policy, `compress-every-turn`, `keep-last-40k` and `seed`; relative to `none`.
    sum: BTreeMap<String, ReplayTotals>,
}

#[derive(JsonSchema)]
struct ReplayedFile {
    file: String,
    turns: u64,
    policies: BTreeMap<String, ReplayRow>,
}

#[derive(JsonSchema)]
struct ReplayRow {
    input: f64,
    /// In tokens of uncached input.
    cost: f64,
    cost_refetch: f64,
    hits: f64,
    peak: u64,
    breaks: u64,
    goal: f64,
    near: f64,
    recall: f64,
    fresh: f64,
    old: f64,
    refetched: u64,
    lost: u64,
}

#[derive(JsonSchema)]
struct ReplayTotals {
    turns: u64,
    input: f64,
    cost: f64,
    cost_refetch: f64,
    cost_median: f64,
    cost_worst: f64,
    hits: f64,
    breaks: f64,
    peak: u64,
    goal: f64,
    near: f64,
    recall: f64,
    fresh: f64,
    old: f64,
    refetched: f64,
    lost: u64,
}

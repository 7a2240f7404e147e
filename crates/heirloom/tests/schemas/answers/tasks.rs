//! Answers about tasks, episodes, errors, artifacts and outputs.

use super::memory::{Outcome, RecordList};
use super::record::Record;
use crate::schema_files::{AnswerSchema, Time};
use schemars::JsonSchema;
use serde_json::{Map, Value};

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<Tasks>("tasks.json", &["task list"]),
        AnswerSchema::value::<TaskDetails>("task.json", &["task show"]),
        AnswerSchema::value::<TaskEnd>("task-end.json", &["task done", "task fail"]),
        AnswerSchema::value::<ErrorLogged>("error-log.json", &["error log"]),
        AnswerSchema::value::<OutcomeAnswer>("task-outcome.json", &["outcome"]),
        AnswerSchema::value::<Episodes>("episodes.json", &["episode list"]),
        AnswerSchema::value::<TriedAnswer>("tried.json", &["tried"]),
        AnswerSchema::value::<Analytics>("analytics.json", &["analytics"]),
        AnswerSchema::value::<Artifacts>("artifacts.json", &["artifact list"]),
        AnswerSchema::value::<VerifiedArtifacts>("artifact-verify.json", &["artifact verify"]),
        AnswerSchema::value::<PlanOutput>("output.json", &["output get"]),
        AnswerSchema::value::<PlanOutputs>("outputs.json", &["output list"]),
    ]
}

/// Tasks, newest first.
#[derive(JsonSchema)]
struct Tasks {
    tasks: RecordList,
}

#[derive(JsonSchema)]
struct TaskDetails {
    #[serde(flatten)]
    task: Record,
    completed_steps: RecordList,
    pending_steps: RecordList,
    /// Its artifacts of type `file`.
    files: RecordList,
    open_errors: RecordList,
}

#[derive(JsonSchema)]
struct TaskEnd {
    /// The id of the task.
    id: String,
    state: TaskEndState,
    /// The id of the episode that was written.
    episode: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TaskEndState {
    Done,
    Failed,
}

#[derive(JsonSchema)]
struct ErrorLogged {
    id: String,
    outcome: ErrorOutcome,
    /// The record that lost its place to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    /// Resolution of the same error before; errors are the same up to paths, numbers, addresses, times, colours and quotes.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_before: Option<EarlierResolution>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ErrorOutcome {
    Created,
    Confirmed,
    Replaced,
    Unchanged,
}

#[derive(JsonSchema)]
struct EarlierResolution {
    id: String,
    resolution: String,
}

#[derive(JsonSchema)]
struct OutcomeAnswer {
    task: String,
    success: bool,
    /// The records that were written.
    records: Vec<Outcome>,
}

/// Episodes, newest first.
#[derive(JsonSchema)]
struct Episodes {
    episodes: RecordList,
}

#[derive(JsonSchema)]
struct TriedAnswer {
    /// Attempts that worked come first.
    tried: Vec<Attempt>,
    /// True if one of them has failed.
    failed: bool,
}

#[derive(JsonSchema)]
struct Attempt {
    id: String,
    task: Option<String>,
    agent: Option<String>,
    /// `attempted`, `completed`, `failed` or `retried`.
    action: String,
    approach: Option<String>,
    outcome: Option<String>,
    score: f64,
    /// Always true: attempts that are only related are left out.
    alike: bool,
    recorded_at: Time,
}

#[derive(JsonSchema)]
struct Analytics {
    by_approach: Vec<ApproachGroup>,
    by_agent: Vec<AgentGroup>,
    by_category: Vec<CategoryGroup>,
    by_week: Vec<WeekGroup>,
    repeated_failures: Vec<RepeatedFailure>,
}

#[derive(JsonSchema)]
struct Rates {
    attempts: u64,
    successes: u64,
    failures: u64,
    /// Number of attempts whose result is not known.
    unknown: u64,
    /// Share of successes among attempts with a known end; `null` without one.
    rate: Option<f64>,
    median_duration_ms: Option<u64>,
    median_tokens: Option<u64>,
}

#[derive(JsonSchema)]
struct ApproachGroup {
    /// `null` for episodes without one.
    approach: Option<String>,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(JsonSchema)]
struct AgentGroup {
    /// `null` for episodes without one.
    agent: Option<String>,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(JsonSchema)]
struct CategoryGroup {
    /// `null` for episodes without one.
    category: Option<String>,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(JsonSchema)]
struct WeekGroup {
    week: String,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(JsonSchema)]
struct RepeatedFailure {
    approach: String,
    failures: u64,
    tasks: Vec<String>,
    last_outcome: Option<String>,
    last_at: Time,
}

/// Artifacts, newest first.
#[derive(JsonSchema)]
struct Artifacts {
    artifacts: RecordList,
}

#[derive(JsonSchema)]
struct VerifiedArtifacts {
    artifacts: Vec<VerifiedArtifact>,
}

#[derive(JsonSchema)]
struct VerifiedArtifact {
    #[serde(flatten)]
    artifact: Record,
    status: ArtifactStatus,
    problem: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ArtifactStatus {
    Unchanged,
    Changed,
    Missing,
    Unknown,
}

/// An output of an agent for a plan.
#[derive(JsonSchema)]
struct PlanOutput {
    id: String,
    plan: String,
    stage: Option<String>,
    agent_id: String,
    /// The last 2,000 characters; with `output get --tail N` the last N lines, with `--full` all that is stored.
    content: String,
    /// Seconds since 1970.
    timestamp: i64,
    metadata: Map<String, Value>,
    size_bytes: u64,
}

/// Outputs, newest first.
#[derive(JsonSchema)]
struct PlanOutputs {
    outputs: Vec<PlanOutput>,
}

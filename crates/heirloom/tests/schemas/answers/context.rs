//! Answers about contexts, receipts, observed output and runs.

use crate::schema_files::{AnswerSchema, Time};
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<ContextAnswer>("context.json", &["context"]),
        AnswerSchema::value::<Receipts>("receipts.json", &["receipts list"]),
        AnswerSchema::value::<Receipt>("receipt.json", &["receipts show"]),
        AnswerSchema::value::<ReceiptDiff>("receipt-diff.json", &["receipts diff"]),
        AnswerSchema::value::<ObserveAnswer>("observe.json", &["observe"]),
        AnswerSchema::lines::<RunEvent>("run.json", &["run"]),
    ]
}

#[derive(JsonSchema)]
struct ContextAnswer {
    text: String,
    chars: u64,
    tokens: u64,
    sections: Vec<ContextSection>,
    /// Sources that failed, and files that a pattern left out.
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct ContextSection {
    name: String,
    chars: u64,
    items: Vec<ContextItem>,
}

#[derive(JsonSchema)]
struct ContextItem {
    /// The record, if the item is one.
    id: Option<String>,
    /// The file, if the item is from one.
    file: Option<String>,
    text: String,
    chars: u64,
    tokens: u64,
    score: Option<f64>,
    /// The calibrated relevance to the question, 0 to 1, if it was compared.
    relevance: Option<f64>,
    /// The worth in the selection, if it competed.
    worth: Option<f64>,
    included: bool,
    /// The reason why it is included or left out.
    reason: String,
}

/// Receipts, newest first.
#[derive(JsonSchema)]
struct Receipts {
    receipts: Vec<ReceiptHead>,
}

#[derive(JsonSchema)]
struct ReceiptHead {
    id: String,
    at: Time,
    unit: BudgetUnit,
    budget: u64,
    chars: u64,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<u32>,
    /// The number of items of each section; absent in receipts of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Vec<SectionCount>>,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct SectionCount {
    name: String,
    included: u64,
    left_out: u64,
    left_out_chars: u64,
    /// Omitted items that only lacked space; the others were not relevant, duplicates or empty.
    did_not_fit: u64,
    did_not_fit_chars: u64,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BudgetUnit {
    Chars,
    Tokens,
}

/// The content of a context that was delivered: what it contained, what was left out, sizes and reasons.
#[derive(JsonSchema)]
struct Receipt {
    #[serde(flatten)]
    head: ReceiptHead,
    sections: Vec<ReceiptSection>,
    /// The text that was sent, redacted; absent if it is over 128 KiB and in receipts of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The standing instructions that were sent apart from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
}

#[derive(JsonSchema)]
struct ReceiptSection {
    name: String,
    chars: u64,
    /// Every included item, and the first 20 of those that were left out.
    items: Vec<StoredItem>,
    /// The number of the others that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_left_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_left_out_chars: Option<u64>,
}

#[derive(JsonSchema)]
struct StoredItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    text: String,
    chars: u64,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worth: Option<f64>,
    included: bool,
    reason: String,
}

#[derive(JsonSchema)]
struct ReceiptDiff {
    /// Items that only the second receipt has.
    came: Vec<ReceiptPart>,
    /// Items that only the first receipt has.
    went: Vec<ReceiptPart>,
    /// The number of items in both.
    stayed: u64,
}

#[derive(JsonSchema)]
struct ReceiptPart {
    section: String,
    name: String,
    text: String,
}

#[derive(JsonSchema)]
struct ObserveAnswer {
    signals: Vec<Signal>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(JsonSchema)]
struct Signal {
    verb: String,
    text: String,
    line: u64,
    /// `unchanged` for knowledge that occurs in the context file.
    outcome: String,
}

#[derive(JsonSchema)]
pub(super) struct Diagnostic {
    line: u64,
    message: String,
}

/// An event of a run.
#[derive(JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
enum RunEvent {
    /// The `memory.json` that was found.
    Mirror {
        outcome: MirrorOutcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        known: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        diagnostics: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    IterationStarted {
        iteration: u32,
        agent: String,
        pending: u64,
        notes: Vec<String>,
        context_chars: u64,
        context: String,
    },
    /// Lines that the agent printed.
    Output {
        stream: OutputStream,
        text: String,
    },
    /// The id that the agent's program gave its session.
    AgentSession {
        id: String,
    },
    Signal {
        verb: String,
        text: String,
        line: u64,
        outcome: String,
    },
    Diagnostic {
        line: u64,
        message: String,
    },
    IterationEnded(Box<Iteration>),
    Ended {
        reason: String,
        success: bool,
        task: String,
        session: String,
        iterations: Vec<Iteration>,
    },
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum MirrorOutcome {
    Nothing,
    Imported,
    SetAside,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OutputStream {
    Stdout,
    Stderr,
}

#[derive(JsonSchema)]
struct Iteration {
    iteration: u32,
    success: bool,
    status: String,
    message: Option<String>,
    error: Option<String>,
    files: Vec<String>,
    pr_number: Option<u64>,
    branch: Option<String>,
    duration_ms: u64,
    signals: u64,
    pending: u64,
    interrupted: bool,
    /// Tokens, if the agent reports them.
    tokens: Option<IterationTokens>,
}

#[derive(JsonSchema)]
struct IterationTokens {
    input: u64,
    cached: u64,
    output: u64,
}

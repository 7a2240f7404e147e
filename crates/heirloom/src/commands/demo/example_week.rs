//! Example data of `heirloom demo --serve`: a week of invented work.

mod earlier_attempts;
mod sessions;

pub(super) use earlier_attempts::{EARLIER_ATTEMPTS, EARLIER_KNOWLEDGE};
pub(super) use sessions::SESSIONS;

/// One session of an agent.
pub(super) struct ExampleSession {
    pub(super) hours_ago: i64,
    pub(super) agent: &'static str,
    pub(super) task: &'static str,
    pub(super) goal: &'static str,
    pub(super) actions: &'static [ExampleAction],
}

/// One thing that an agent does in a session.
pub(super) enum ExampleAction {
    /// Category, key and text of knowledge.
    Learn(&'static str, &'static str, &'static str),
    /// Key, text and rationale of a decision.
    Decide(&'static str, &'static str, &'static str),
    /// Text of an error.
    Fail(&'static str),
    /// Text of an error, and its resolution.
    Mend(&'static str, &'static str),
    /// Approach, outcome, success, minutes, thousands of tokens read.
    Try(&'static str, &'static str, bool, u64, u64),
    /// Completed step.
    Done(&'static str),
    /// Pending step.
    ToDo(&'static str),
    /// Path of a file of the project.
    File(&'static str),
    /// Note for the group.
    Note(&'static str),
}

/// Tasks: id, type, phase, branch.
pub(super) const TASKS: [(&str, &str, &str, &str); 7] = [
    ("214", "issue", "done", "fix/214-redelivery"),
    ("198", "issue", "test", "feat/198-rate-limit"),
    ("225", "issue", "implement", "fix/225-flaky-drain"),
    ("207", "issue", "plan", "feat/207-address-check"),
    ("221", "issue", "plan", ""),
    ("190", "issue", "done", "fix/190-sqlx-offline"),
    ("226", "pr", "review", "fix/214-redelivery"),
];

/// Files of the project: path and content.
pub(super) const FILES: &[(&str, &str)] = &[
    (
        "src/outbox/worker.rs",
        "//! The worker that drains the outbox.\npub fn drain() {}\n",
    ),
    (
        "src/limit/bucket.rs",
        "//! A leaky bucket, one a node.\npub struct Bucket;\n",
    ),
    (
        "migrations/0042_delivery_pair.sql",
        "CREATE UNIQUE INDEX CONCURRENTLY delivery_pair ON deliveries (event_id, endpoint_id);\n",
    ),
    ("tests/redelivery.rs", "#[test]\nfn each_event_once() {}\n"),
    ("tests/limit.rs", "#[test]\nfn burst_is_capped() {}\n"),
    ("docs/replay-log.txt", "event 88213 sent once\n"),
    ("src/carriers/dhl.rs", "pub struct Dhl;\n"),
];

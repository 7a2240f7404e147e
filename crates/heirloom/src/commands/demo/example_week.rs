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

/// Task of the week. One has no title, as many have: its pages show the first prompt.
pub(super) struct ExampleTask {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) task_type: &'static str,
    pub(super) phase: &'static str,
    pub(super) branch: &'static str,
}

/// Tasks of the week.
pub(super) const TASKS: [ExampleTask; 7] = [
    ExampleTask {
        id: "214",
        title: "Webhook retries deliver twice after a deploy",
        task_type: "issue",
        phase: "done",
        branch: "fix/214-redelivery",
    },
    ExampleTask {
        id: "198",
        title: "Rate limit per API key",
        task_type: "issue",
        phase: "test",
        branch: "feat/198-rate-limit",
    },
    ExampleTask {
        id: "225",
        title: "Flaky test: outbox drains on shutdown",
        task_type: "issue",
        phase: "implement",
        branch: "fix/225-flaky-drain",
    },
    ExampleTask {
        id: "207",
        title: "Check addresses before a label is bought",
        task_type: "issue",
        phase: "plan",
        branch: "feat/207-address-check",
    },
    ExampleTask {
        id: "221",
        title: "",
        task_type: "issue",
        phase: "plan",
        branch: "",
    },
    ExampleTask {
        id: "190",
        title: "CI fails: sqlx offline data is stale",
        task_type: "issue",
        phase: "done",
        branch: "fix/190-sqlx-offline",
    },
    ExampleTask {
        id: "226",
        title: "Each event once: unique index on deliveries",
        task_type: "pr",
        phase: "review",
        branch: "fix/214-redelivery",
    },
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

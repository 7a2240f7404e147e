//! What happened in the week that `heirloom demo --serve` tells: plain words, nothing of it real.

mod days;
mod earlier;

pub(super) use days::WEEK;
pub(super) use earlier::{BEFORE, OLDER};

/// A session: how many hours ago it began, who held it, for which task, and what came of it.
pub(super) struct Tale {
    pub(super) hours_ago: i64,
    pub(super) agent: &'static str,
    pub(super) task: &'static str,
    pub(super) goal: &'static str,
    pub(super) deeds: &'static [Deed],
}

/// One thing that is done in a session.
pub(super) enum Deed {
    /// Category, key, text.
    Learn(&'static str, &'static str, &'static str),
    /// Key, text, why.
    Decide(&'static str, &'static str, &'static str),
    /// What went wrong.
    Fail(&'static str),
    /// What went wrong, and what helped.
    Mend(&'static str, &'static str),
    /// Approach, outcome, whether it worked, minutes, thousands of tokens read.
    Try(&'static str, &'static str, bool, u64, u64),
    /// A step that is done.
    Done(&'static str),
    /// A step that is still to do.
    ToDo(&'static str),
    /// A file of the project.
    File(&'static str),
    /// Something noted for the group.
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

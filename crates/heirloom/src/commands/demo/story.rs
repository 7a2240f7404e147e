//! What happened in the week that `heirloom demo --serve` tells: plain words, nothing of it real.

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

use Deed::{Decide, Done, Fail, File, Learn, Mend, Note, ToDo, Try};

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

/// Days ago, task, agent, approach, outcome, whether it worked, minutes, thousands of tokens.
type Before = (
    i64,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    u64,
    u64,
);

/// Tries of the weeks before.
pub(super) const BEFORE: &[Before] = &[
    (
        33,
        "131",
        "codex",
        "Session-level advisory lock",
        "PgBouncer pools by transaction.",
        false,
        41,
        220,
    ),
    (
        32,
        "131",
        "claude-code",
        "Test first, then fix",
        "",
        true,
        22,
        180,
    ),
    (
        31,
        "140",
        "claude-code",
        "Rewrite the module",
        "Too much at once; three behaviours were lost.",
        false,
        71,
        510,
    ),
    (
        30,
        "140",
        "claude-code",
        "Smallest change in place",
        "",
        true,
        16,
        120,
    ),
    (
        27,
        "151",
        "codex",
        "Raise a timeout",
        "The cause stayed.",
        false,
        12,
        60,
    ),
    (
        26,
        "151",
        "codex",
        "Test first, then fix",
        "",
        true,
        24,
        190,
    ),
    (
        25,
        "152",
        "claude-code",
        "New migration and backfill",
        "Locked the table in staging.",
        false,
        48,
        300,
    ),
    (
        24,
        "152",
        "claude-code",
        "New migration and backfill",
        "",
        true,
        52,
        330,
    ),
    (
        23,
        "155",
        "codex",
        "Copy the pattern of a sibling module",
        "",
        true,
        19,
        140,
    ),
    (
        20,
        "160",
        "reviewer",
        "Smallest change in place",
        "",
        true,
        15,
        90,
    ),
    (
        19,
        "161",
        "codex",
        "cargo sqlx prepare in one crate only",
        "Offline data of the other crates is stale.",
        false,
        9,
        50,
    ),
    (
        18,
        "163",
        "claude-code",
        "Copy the pattern of a sibling module",
        "",
        true,
        21,
        150,
    ),
    (
        17,
        "165",
        "codex",
        "Rewrite the module",
        "The reviewer asked for smaller steps.",
        false,
        66,
        480,
    ),
    (
        13,
        "170",
        "claude-code",
        "Test first, then fix",
        "",
        true,
        20,
        170,
    ),
    (
        12,
        "172",
        "codex",
        "Raise a timeout",
        "Still flaky.",
        false,
        11,
        55,
    ),
    (
        11,
        "174",
        "claude-code",
        "Smallest change in place",
        "",
        true,
        14,
        100,
    ),
    (
        10,
        "177",
        "reviewer",
        "Test first, then fix",
        "",
        true,
        26,
        160,
    ),
    (
        9,
        "180",
        "codex",
        "New migration and backfill",
        "The backfill ran out of memory.",
        false,
        50,
        290,
    ),
];

/// The week, the oldest first.
pub(super) const WEEK: &[Tale] = &[
    Tale {
        hours_ago: 160,
        agent: "codex",
        task: "190",
        goal: "CI fails: sqlx data is stale. Find out why and fix it.",
        deeds: &[
            Try(
                "cargo sqlx prepare in one crate only",
                "Offline data of the other crates is stale.",
                false,
                14,
                96,
            ),
            Mend(
                "error: `sqlx` offline data is stale in crate outbox",
                "run `cargo sqlx prepare --workspace` and commit `.sqlx`",
            ),
            Try("Prepare the whole workspace", "CI is green.", true, 9, 61),
            Learn(
                "convention",
                "sqlx-prepare",
                "Run `cargo sqlx prepare --workspace` after every change of a query and commit `.sqlx`.",
            ),
            Done("Prepare the workspace"),
        ],
    },
    Tale {
        hours_ago: 124,
        agent: "claude-code",
        task: "214",
        goal: "Webhook retries deliver twice after a deploy. Reproduce it first.",
        deeds: &[
            Learn(
                "architecture",
                "webhook-delivery",
                "Webhooks go through the outbox table. The worker polls it every 10 s and marks a row delivered.",
            ),
            Learn(
                "convention",
                "error-type",
                "Handlers return `Result<Json<T>, ApiError>`; no `unwrap` outside tests.",
            ),
            Learn(
                "fact",
                "test-db-port",
                "Integration tests use PostgreSQL on port 5433; `just db` starts it.",
            ),
            Decide(
                "idempotency-store",
                "Idempotency keys live in PostgreSQL, not Redis.",
                "one transaction must cover the key and the order.",
            ),
            Done("Reproduce with two workers"),
            ToDo("Find where the lock is lost"),
            ToDo("Drop the old dedupe column"),
            File("src/outbox/worker.rs"),
        ],
    },
    Tale {
        hours_ago: 121,
        agent: "claude-code",
        task: "214",
        goal: "Go on with #214: two workers send event 88213.",
        deeds: &[
            Try(
                "Session-level advisory lock around each delivery",
                "PgBouncer pools by transaction, so `pg_advisory_lock` is dropped between statements. Two workers still sent event 88213.",
                false,
                38,
                412,
            ),
            Learn(
                "fact",
                "pgbouncer-locks",
                "PgBouncer pools by transaction: session-level advisory locks are dropped between statements.",
            ),
            Done("Find where the lock is lost"),
            Fail("delivery of event 88213 was sent twice by workers 1 and 2"),
        ],
    },
    Tale {
        hours_ago: 116,
        agent: "codex",
        task: "225",
        goal: "outbox_drains_on_shutdown is flaky. Make it reliable.",
        deeds: &[
            Try(
                "Raise the shutdown timeout",
                "The drain loses the last batch whatever the timeout is.",
                false,
                12,
                72,
            ),
            Fail("test outbox_drains_on_shutdown failed: left 41 rows, right 42 rows"),
            Learn(
                "fact",
                "drain-order",
                "On shutdown the outbox worker stops polling before it flushes the last batch.",
            ),
        ],
    },
    Tale {
        hours_ago: 99,
        agent: "claude-code",
        task: "214",
        goal: "A unique index instead of a lock, and without blocking the table.",
        deeds: &[
            Learn(
                "architecture",
                "webhook-delivery",
                "Webhooks go through the outbox table. The worker polls it every 2 s and marks a row delivered in the same transaction. Never call the endpoint from a handler.",
            ),
            Done("Unique index, made online"),
            File("migrations/0042_delivery_pair.sql"),
            Note("Webhook fixes go out on Tuesdays, with somebody on call."),
        ],
    },
    Tale {
        hours_ago: 94,
        agent: "codex",
        task: "214",
        goal: "Try the unique index on staging.",
        deeds: &[
            Try(
                "Unique index on (event_id, endpoint_id)",
                "The migration takes an ACCESS EXCLUSIVE lock on 40 million rows; staging timed out after 60 s.",
                false,
                14,
                96,
            ),
            Learn(
                "convention",
                "index-concurrently",
                "Indexes on `deliveries` are made with CONCURRENTLY, outside a transaction.",
            ),
        ],
    },
    Tale {
        hours_ago: 90,
        agent: "claude-code",
        task: "214",
        goal: "Same index with CONCURRENTLY.",
        deeds: &[
            Try(
                "Same index with CONCURRENTLY, insert ON CONFLICT DO NOTHING",
                "Works, but `retry_backoff_is_monotonic` fails: a swallowed conflict counted as a delivery and reset the backoff.",
                false,
                51,
                388,
            ),
            Done("Insert ignores a known pair"),
            File("tests/redelivery.rs"),
            Fail("test retry_backoff_is_monotonic failed at tests/redelivery.rs:88"),
        ],
    },
    Tale {
        hours_ago: 74,
        agent: "claude-code",
        task: "198",
        goal: "Rate limit per API key: 60 a minute, burst of 20, answers 429 with Retry-After.",
        deeds: &[
            Decide(
                "rate-limit-header",
                "429 answers carry `Retry-After` in seconds; no `X-RateLimit-*`.",
                "clients of ours read only that.",
            ),
            Try(
                "Token bucket in Redis",
                "Redis is not in the request path of the EU region.",
                false,
                33,
                240,
            ),
            ToDo("Burst is capped"),
            ToDo("429 carries Retry-After"),
            Done("Bucket refills at its rate"),
            File("src/limit/bucket.rs"),
        ],
    },
    Tale {
        hours_ago: 69,
        agent: "codex",
        task: "225",
        goal: "Drain: flush before the poller stops.",
        deeds: &[
            Try(
                "Raise the shutdown timeout",
                "30 s instead of 10 s: the last batch is still lost.",
                false,
                11,
                64,
            ),
            Learn(
                "fact",
                "retry-backoff",
                "Retries back off 1, 2, 4, 8 minutes, then hourly for a day.",
            ),
            Fail("relation \"outbox_v2\" does not exist"),
        ],
    },
    Tale {
        hours_ago: 50,
        agent: "claude-code",
        task: "214",
        goal: "The backoff must count real deliveries.",
        deeds: &[
            Try(
                "CONCURRENTLY, and the backoff reads `rows_affected()`",
                "214 tests pass; replaying Monday’s deploy sends each event once.",
                true,
                44,
                301,
            ),
            Done("Backoff counts real deliveries"),
            Done("Replay Monday’s deploy"),
            File("docs/replay-log.txt"),
            Mend(
                "test retry_backoff_is_monotonic failed at tests/redelivery.rs:88",
                "count `rows_affected()`, not statements",
            ),
        ],
    },
    Tale {
        hours_ago: 46,
        agent: "reviewer",
        task: "226",
        goal: "Review the fix of #214.",
        deeds: &[
            Try(
                "Test first, then fix",
                "Agreed: every case of the issue has a test.",
                true,
                26,
                92,
            ),
            Learn(
                "convention",
                "tracing-json",
                "Logs are JSON from tracing-subscriber, one event a line, with `request_id`.",
            ),
            Note("Reviews name the failing case, not the style."),
        ],
    },
    Tale {
        hours_ago: 43,
        agent: "claude-code",
        task: "198",
        goal: "Rate limit: fixed window in PostgreSQL?",
        deeds: &[
            Try(
                "Fixed window in PostgreSQL",
                "Bursts of 119 pass at the window's edge.",
                false,
                29,
                208,
            ),
            Learn(
                "fact",
                "retry-backoff",
                "Retries back off 1, 5, 25 minutes, then hourly for two days.",
            ),
            Fail(
                "thread 'limit::bucket::burst_is_capped' panicked at src/limit/bucket.rs:88: left 61, right 60",
            ),
        ],
    },
    Tale {
        hours_ago: 20,
        agent: "codex",
        task: "225",
        goal: "Flaky drain again: the timeout is not it.",
        deeds: &[
            Try(
                "Raise the shutdown timeout",
                "Third time, same lost batch.",
                false,
                8,
                40,
            ),
            Learn(
                "fact",
                "test-db-port",
                "Integration tests use PostgreSQL on port 5432 from `compose.yaml`.",
            ),
            Learn(
                "preference",
                "small-commits",
                "Prefers small commits, one reason each.",
            ),
            Mend(
                "relation \"outbox_v2\" does not exist",
                "run `just migrate` before the worker tests",
            ),
        ],
    },
    Tale {
        hours_ago: 3,
        agent: "claude-code",
        task: "198",
        goal: "Leaky bucket in memory, one per node; the burst test must pass.",
        deeds: &[
            Try(
                "Leaky bucket in memory",
                "Bursts are capped; one test is left.",
                true,
                37,
                262,
            ),
            Done("Burst is capped"),
            Learn(
                "architecture",
                "limit-scope",
                "Rate limits hold per node: three nodes let three times the burst through, which is accepted.",
            ),
            File("tests/limit.rs"),
        ],
    },
];

/// What people and agents had said before that week: days ago, who, category, key, text.
pub(super) const OLDER: &[(i64, &str, &str, &str, &str)] = &[
    (
        124,
        "codex",
        "fact",
        "old-admin-ui",
        "The admin page under `/ops` is served by the Go service.",
    ),
    (
        118,
        "user",
        "fact",
        "carrier-sandbox-hours",
        "The DHL sandbox is down from 02:00 to 04:00 UTC.",
    ),
    (
        110,
        "codex",
        "convention",
        "prefer-eyre",
        "Binaries use `eyre`, libraries `thiserror`.",
    ),
    (
        96,
        "codex",
        "fact",
        "docker-compose-db",
        "`docker compose up db` starts the test database.",
    ),
    (
        60,
        "codex",
        "fact",
        "axum-version",
        "The service is on axum 0.7; extractors need `#[async_trait]`, see src/http/old_extract.rs.",
    ),
    (
        58,
        "claude-code",
        "fact",
        "ci-cache",
        "CI caches `target/` by lock file, see docs/ci-cache.md.",
    ),
    (
        36,
        "codex",
        "convention",
        "sqlx-offline",
        "Run `cargo sqlx prepare` after every change of a query, then commit `.sqlx`.",
    ),
    (
        34,
        "codex",
        "convention",
        "log-format",
        "Logs are JSON lines, one event a line, with `request_id`.",
    ),
    (
        30,
        "user",
        "convention",
        "error-messages",
        "Messages for customers never name a table or a host.",
    ),
    (
        28,
        "claude-code",
        "architecture",
        "carrier-adapters",
        "Each carrier is one module below `src/carriers`, behind the trait `Carrier`.",
    ),
    (
        21,
        "user",
        "decision",
        "no-orm",
        "Queries are SQL by hand, checked by sqlx; there is no ORM.",
    ),
    (
        16,
        "user",
        "fact",
        "label-format",
        "Labels are PDF/A-2b at 300 dpi.",
    ),
    (
        15,
        "claude-code",
        "learning",
        "flaky-clock",
        "Tests that sleep are flaky on CI: pass a clock instead.",
    ),
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

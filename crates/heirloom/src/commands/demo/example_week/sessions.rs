//! Sessions of the example week.

use super::ExampleAction::{Decide, Done, Fail, File, Learn, Mend, Note, ToDo, Try};
use super::ExampleSession;

/// Sessions of the week, oldest first.
pub(in super::super) const SESSIONS: &[ExampleSession] = &[
    ExampleSession {
        hours_ago: 142,
        agent: "codex",
        task: "190",
        goal: "CI fails: sqlx data is stale. Find out why and fix it.",
        actions: &[
            Try(
                "Delete `.sqlx` and build again",
                "The build needs a database, and CI has none.",
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
    ExampleSession {
        hours_ago: 124,
        agent: "claude-code",
        task: "214",
        goal: "Webhook retries deliver twice after a deploy. Reproduce it first.",
        actions: &[
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
    ExampleSession {
        hours_ago: 121,
        agent: "claude-code",
        task: "214",
        goal: "Go on with #214: two workers send event 88213.",
        actions: &[
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
    ExampleSession {
        hours_ago: 116,
        agent: "codex",
        task: "225",
        goal: "outbox_drains_on_shutdown is flaky. Make it reliable.",
        actions: &[
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
    ExampleSession {
        hours_ago: 99,
        agent: "claude-code",
        task: "214",
        goal: "A unique index instead of a lock, and without blocking the table.",
        actions: &[
            Learn(
                "architecture",
                "webhook-delivery",
                "Webhooks go through the outbox table. The worker polls it every 2 s and marks a row delivered in the same transaction. Never call the endpoint from a handler.",
            ),
            Done("Unique index, made online"),
            File("migrations/0042_delivery_pair.sql"),
            Note("Webhook fixes go out on Tuesdays, with an engineer on call."),
        ],
    },
    ExampleSession {
        hours_ago: 94,
        agent: "codex",
        task: "214",
        goal: "Try the unique index on staging.",
        actions: &[
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
    ExampleSession {
        hours_ago: 90,
        agent: "claude-code",
        task: "214",
        goal: "Same index with CONCURRENTLY.",
        actions: &[
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
    ExampleSession {
        hours_ago: 74,
        agent: "claude-code",
        task: "198",
        goal: "Rate limit per API key: 60 a minute, burst of 20, answers 429 with Retry-After.",
        actions: &[
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
    ExampleSession {
        hours_ago: 69,
        agent: "codex",
        task: "225",
        goal: "outbox_drains_on_shutdown fails again: find the lost batch.",
        actions: &[
            Try(
                "Flush the last batch before the poller stops",
                "42 of 42 rows in 200 runs.",
                true,
                23,
                118,
            ),
            Learn(
                "fact",
                "retry-backoff",
                "Retries back off 1, 2, 4, 8 minutes, then hourly for a day.",
            ),
            Mend(
                "test outbox_drains_on_shutdown failed: left 41 rows, right 42 rows",
                "flush the batch before the poller stops",
            ),
            Fail("relation \"outbox_v2\" does not exist"),
        ],
    },
    ExampleSession {
        hours_ago: 50,
        agent: "claude-code",
        task: "214",
        goal: "The backoff must count real deliveries.",
        actions: &[
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
    ExampleSession {
        hours_ago: 46,
        agent: "reviewer",
        task: "226",
        goal: "Review the fix of #214.",
        actions: &[
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
    ExampleSession {
        hours_ago: 43,
        agent: "claude-code",
        task: "198",
        goal: "Rate limit: fixed window in PostgreSQL?",
        actions: &[
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
    ExampleSession {
        hours_ago: 26,
        agent: "gemini-cli",
        task: "221",
        goal: "The nightly export runs twice. One worker must win.",
        actions: &[
            Try(
                "Session-level advisory lock around the export",
                "PgBouncer drops the lock between statements; both workers exported.",
                false,
                21,
                160,
            ),
            ToDo("Choose one worker without a session lock"),
        ],
    },
    ExampleSession {
        hours_ago: 20,
        agent: "codex",
        task: "225",
        goal: "The drain test is red on the slow CI runner only.",
        actions: &[
            Try(
                "Wait for the row lock of the second worker",
                "Green on the slow runner; the shutdown timeout stays at 10 s.",
                true,
                17,
                90,
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
    ExampleSession {
        hours_ago: 3,
        agent: "claude-code",
        task: "198",
        goal: "Leaky bucket in memory, one per node; the burst test must pass.",
        actions: &[
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

//! The metrics of docs/benchmarks.md in their order, with their goals.

/// Goal of a metric. A metric without any bound has no goal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal {
    /// Largest median.
    pub(super) most: Option<f64>,
    /// Largest 99th percentile.
    pub(super) most_p99: Option<f64>,
    /// Smallest median.
    pub(super) least: Option<f64>,
    /// The bounds are added to the median of the yardstick, which the same run measured.
    pub(super) is_over_yardstick: bool,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Name of the metric in `bench/results`; its first part is the group.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) goal: Goal,
}

const NONE: Goal = Goal {
    most: None,
    most_p99: None,
    least: None,
    is_over_yardstick: false,
};

const fn at_most(median: f64) -> Goal {
    Goal {
        most: Some(median),
        ..NONE
    }
}

const fn at_most_both(median: f64, p99: f64) -> Goal {
    Goal {
        most: Some(median),
        most_p99: Some(p99),
        ..NONE
    }
}

const fn at_least(median: f64) -> Goal {
    Goal {
        least: Some(median),
        ..NONE
    }
}

const fn over_yardstick(median: f64) -> Goal {
    Goal {
        most: Some(median),
        is_over_yardstick: true,
        ..NONE
    }
}

const fn p99_over_yardstick(p99: f64) -> Goal {
    Goal {
        most_p99: Some(p99),
        is_over_yardstick: true,
        ..NONE
    }
}

const fn row(id: &'static str, title: &'static str, unit: &'static str, goal: Goal) -> Row {
    Row {
        id,
        title,
        unit,
        goal,
    }
}

/// Groups of `cargo xtask bench --only`, in the order of the document.
pub(crate) const GROUPS: [&str; 26] = [
    "context",
    "start",
    "remember",
    "observe",
    "maintenance",
    "redact",
    "alarms",
    "embed",
    "sentences",
    "reembed",
    "recall",
    "recall-million",
    "projects",
    "growth",
    "sources",
    "lessons",
    "anchors",
    "hooks",
    "mcp",
    "server",
    "window",
    "transcripts",
    "quality",
    "prompts",
    "tokens",
    "size",
];

/// Groups that `cargo xtask fleet` measures: over PostgreSQL and over Citus with two workers, many projects and a large one, and
/// faults of the database.
pub(crate) const FLEET: [&str; 6] = [
    "fleet",
    "fleet-large",
    "citus",
    "citus-large",
    "faults",
    "citus-faults",
];

/// Group of the values that people judged, which no run measures.
pub(crate) const JUDGED: &str = "judged";

/// Groups that a run without `--only` leaves out: they need a folder with data.
pub(super) const WITH_DATA: [&str; 7] = [
    "alarms", "window", "quality", "prompts", "tokens", "lessons", "anchors",
];

/// Groups that a run without `--only` leaves out: they fill a million records.
pub(super) const LONG: [&str; 3] = ["recall-million", "projects", "growth"];

/// The table of metrics.
#[rustfmt::skip]
pub(crate) const METRICS: &[Row] = &[
    row("context.in_process", "context from 10,000 records, in a process", "ms", at_most(3.0)),
    row("context.process", "context from 10,000 records, from process start", "ms", at_most(6.0)),
    row("context.commits_3000", "1,200 commits as memory, a changelog line as query: right commit in 3,000 characters", "of 120", at_least(108.0)),
    row("context.commits_8000", "the same, in 8,000 characters", "of 120", at_least(110.0)),
    row("context.commits_lost", "the same, in 3,000 characters and not in 8,000", "of 120", at_most(0.0)),
    row("context.commits_recall", "the same, in recall's first ten", "of 120", NONE),
    row("context.facts_missing", "400 facts next to persona, SOUL.md, a learning, a failed try and history: not in 6,000 characters, with and without a query", "of 10", at_most(0.0)),
    row("prompts.told", "developers' prompts with a relevant record: the prompt hook tells one", "%", at_least(50.0)),
    row("prompts.useful", "records that the prompt hook tells: useful ones", "%", at_least(75.0)),
    row("prompts.false", "developers' prompts without a relevant record: told something", "%", at_most(6.0)),
    row("prompts.in_context", "developers' prompts with a relevant record: one is in a context of 3,000 characters", "%", at_least(88.0)),
    row("prompts.first", "the same: one is recall's first", "%", NONE),
    row("prompts.first_five", "the same: one is among recall's first five", "%", NONE),
    row("prompts.hook", "prompt hook of a project of 60 records, in a process", "ms", NONE),
    row("prompts.sentences.told", "with the transformer, whose coefficients were fitted on these projects: the prompt hook tells one", "%", at_least(60.0)),
    row("prompts.sentences.useful", "the same: useful ones of the told records", "%", at_least(75.0)),
    row("prompts.sentences.false", "the same, without a relevant record: told something", "%", at_most(6.0)),
    row("prompts.sentences.in_context", "the same: one is in a context of 3,000 characters", "%", at_least(93.0)),
    row("prompts.sentences.first", "the same: one is recall's first", "%", at_least(65.0)),
    row("prompts.sentences.first_five", "the same: one is among recall's first five", "%", at_least(87.0)),
    row("prompts.sentences.hook", "the same: prompt hook, in a process", "ms", NONE),
    row("sources.in_process", "context of all sources, 100,000 records, 50 workspace entries, 10 files, in a process", "ms", at_most(6.0)),
    row("sources.process", "context of all sources, from process start", "ms", at_most(15.0)),
    row("lessons.kept", "recorded sessions: lessons of a careful reader that are kept, weighted", "%", at_least(45.0)),
    row("lessons.useful", "the same: records that match such a lesson", "%", at_least(60.0)),
    row("lessons.noise", "the same: examples of noise that are stored", "of 40", at_most(2.0)),
    row("lessons.records", "the same: records of a session", "records", at_most(14.0)),
    row("judged.lessons", "the same: records that a colleague would keep, read by eye", "%", at_least(60.0)),
    row("lessons.recorded_session", "the same: extraction, the slowest session, scaled to 3 MB", "ms", at_most(300.0)),
    row("lessons.recorded_turn", "the same: extraction from the last event, the slowest session", "ms", at_most(5.0)),
    row("lessons.rules_precision", "a table of people's turns: rules that are right", "%", at_least(95.0)),
    row("lessons.rules_recall", "the same: turns with a rule whose rule is found", "%", at_least(80.0)),
    row("lessons.changes_named", "a table of failures, changes and successes: resolutions that name the change", "%", at_least(80.0)),
    row("lessons.false_claims", "the same: records with a claim that the edit contradicts", "pairs", at_most(0.0)),
    row("lessons.unproven_closings", "a table of endings of iterations: errors closed without evidence", "errors", at_most(0.0)),
    row("lessons.missed_closings", "the same: errors left open despite evidence", "errors", at_most(0.0)),
    row("lessons.session", "extraction from a transcript of 3 MB, with parsing", "ms", at_most(300.0)),
    row("lessons.turn", "extraction from one more turn, with reading and writing the state", "ms", at_most(5.0)),
    row("lessons.first", "first extraction of a process", "ms", NONE),
    row("lessons.state", "state of the extractor after 3 MB", "KB", at_most(256.0)),
    row("anchors.count", "recorded conversations: anchors after every fifth tool call", "anchors", NONE),
    row("anchors.each", "anchors of a conversation", "anchors", NONE),
    row("anchors.mean", "tokens of an anchor", "tokens", NONE),
    row("anchors.longest", "tokens of the longest anchor", "tokens", at_most(60.0)),
    row("anchors.per_call", "tokens of anchors for each tool call", "tokens", NONE),
    row("start.version_10k", "process start, `heirloom --version`", "ms", NONE),
    row("start.context_10k", "`heirloom context`, 10,000 records", "ms", NONE),
    row("start.recall_10k", "`heirloom recall`, 10,000 records", "ms", at_most(5.0)),
    row("start.recall_10k_open", "`heirloom recall`, 10,000 records, another process has the store open", "ms", at_most(5.0)),
    row("start.context_100k", "`heirloom context`, 100,000 records", "ms", NONE),
    row("start.recall_100k", "`heirloom recall`, 100,000 records", "ms", at_most(8.0)),
    row("start.recall_100k_open", "`heirloom recall`, 100,000 records, another process has the store open", "ms", at_most(8.0)),
    row("recall.words_10k", "search by words, 10,000 records", "ms", NONE),
    row("recall.words_100k", "search by words, 100,000 records", "ms", at_most(0.4)),
    row("recall.words_1m", "search by words, 1,000,000 records", "ms", at_most(3.0)),
    row("recall.both_10k", "search by words and meaning, 10,000 records", "ms", NONE),
    row("recall.both_100k", "search by words and meaning, 100,000 records", "ms", at_most_both(1.5, 4.0)),
    row("recall.both_1m", "search by words and meaning, 1,000,000 records", "ms", at_most(14.0)),
    row("recall.ten_best_100k", "recall of the ten best, read, ranked and folded, 100,000 records", "ms", at_most_both(1.5, 4.0)),
    row("projects.words", "a project among 50 in a store of a million records, slower than alone: words", "×", at_most(1.5)),
    row("projects.both", "a project among 50, slower than alone: words and meaning", "×", at_most(1.5)),
    row("projects.words_in_turn", "all 50 projects in turn, slower than alone: words", "×", NONE),
    row("projects.both_in_turn", "all 50 projects in turn, slower than alone: words and meaning", "×", NONE),
    row("prompts.nearest", "the nearest records of a prompt, in a process", "ms", NONE),
    row("remember.durable_0", "durable `remember`, empty store", "ms", over_yardstick(0.3)),
    row("remember.durable_1k", "durable `remember`, 1,000 records", "ms", over_yardstick(0.3)),
    row("remember.durable_10k", "durable `remember`, 10,000 records", "ms", over_yardstick(0.3)),
    row("remember.durable_100k", "durable `remember`, 100,000 records", "ms", over_yardstick(0.3)),
    row("recall.write_10k", "durable write with words and vector, 10,000 records", "ms", over_yardstick(0.3)),
    row("recall.write_100k", "durable write with words and vector, 100,000 records", "ms", over_yardstick(0.3)),
    row("recall.fill_10k", "writes in batches of 200, up to 10,000 records", "records/s", NONE),
    row("recall.fill_100k", "writes in batches of 200, up to 100,000 records", "records/s", NONE),
    row("remember.stdin", "`remember --stdin`, lines that share a sync", "records/s", NONE),
    row("maintenance.undo", "undo, 100,000 records", "ms", over_yardstick(0.1)),
    row("maintenance.backup", "`heirloom backup`, 100,000 records", "ms", at_most(1_000.0)),
    row("maintenance.doctor", "`heirloom doctor`, 100,000 records", "ms", at_most(2_000.0)),
    row("maintenance.restore", "`heirloom restore`, 100,000 records", "ms", NONE),
    row("maintenance.store", "store of 100,000 records, with journal", "MB", at_most(90.0)),
    row("maintenance.file", "store file of 100,000 records, closed", "MB", NONE),
    row("remember.store", "store of 100,500 records that were written one by one, with journal", "MB", NONE),
    row("recall.store_100k", "store of 100,000 records of 18 words", "MB", at_most(90.0)),
    row("recall.resident_100k", "resident memory after 800 searches", "MB", at_most(75.0)),
    row("observe.text", "`observe` of plain text, in a process", "MB/s", at_least(500.0)),
    row("observe.auto", "`observe` of plain text, format detected", "MB/s", NONE),
    row("observe.pipe", "`observe` of plain text, through a pipe", "MB/s", at_least(500.0)),
    row("redact.write_share", "redaction in a write of 200 characters", "us", at_most(20.0)),
    row("redact.first", "redaction of the first text of a process", "ms", NONE),
    row("redact.rate.all_of_them", "redaction, eight kinds of text", "MB/s", at_least(200.0)),
    row("redact.rate.all_with_escapes", "redaction, eight kinds of text and text with escapes", "MB/s", at_least(200.0)),
    row("redact.rate.log_lines", "redaction, logs", "MB/s", NONE),
    row("redact.rate.json_a_lock_file", "redaction, a lock file", "MB/s", NONE),
    row("redact.rate.javascript_minified", "redaction, minified code", "MB/s", NONE),
    row("redact.rate.source_code_about_logins", "redaction, code about logins", "MB/s", NONE),
    row("redact.rate.source_code_rust", "redaction, other code", "MB/s", NONE),
    row("redact.rate.prose_about_logins", "redaction, prose about logins", "MB/s", NONE),
    row("redact.rate.prose", "redaction, prose", "MB/s", NONE),
    row("redact.rate.base64", "redaction, base64", "MB/s", NONE),
    row("redact.rate.log_with_colours", "redaction, a log with colours", "MB/s", NONE),
    row("redact.rate.json_with_escapes", "redaction, JSON lines with escapes", "MB/s", NONE),
    row("redact.rate.a_secret_in_every_line", "redaction, a secret in every line", "MB/s", NONE),
    row("alarms.rate", "redaction, false alarms in published code", "/MB", at_most(1.0)),
    row("embed.rate", "vectors of texts of 105 characters, one core", "texts/s", at_least(20_000.0)),
    row("embed.first", "first vector of a process", "ms", at_most(1.0)),
    row("embed.question", "vector of a question", "ms", NONE),
    row("embed.scan", "scan of 100,000 vectors", "ms", NONE),
    row("sentences.question", "sentence vector of a question of 24 tokens, one core", "ms", at_most(6.0)),
    row("sentences.texts", "sentence vectors of texts of 19 words, one core", "texts/s", at_least(100.0)),
    row("sentences.reembed", "reembed of 2,000 texts, with the writes", "texts/s", at_least(98.0)),
    row("sentences.recall_new_10k", "recall over 10,000 embedded records, in a process, a new question", "ms", NONE),
    row("sentences.recall_cached_10k", "the same, a question again", "ms", NONE),
    row("sentences.recall_new_100k", "recall over 100,000 embedded records, in a process, a new question", "ms", at_most(9.0)),
    row("sentences.recall_cached_100k", "the same, a question again", "ms", at_most(3.0)),
    row("sentences.hook_10k", "prompt hook over 10,000 embedded records, through a shell", "ms", at_most(24.0)),
    row("sentences.hook_100k", "the same over 100,000", "ms", NONE),
    row("sentences.command_10k", "recall over 10,000 embedded records, from process start", "ms", at_most(18.0)),
    row("sentences.command_100k", "the same over 100,000", "ms", NONE),
    row("sentences.http_rate", "recall over HTTP, 100,000 embedded records, 64 connections, new questions of about 24 tokens", "/s", at_least(200.0)),
    row("sentences.http", "the same, latency", "ms", NONE),
    row("sentences.http_prompts_rate", "the same, prompts of 20 to 60 words, at most 400 characters", "/s", NONE),
    row("sentences.http_prompts", "the same, latency", "ms", NONE),
    row("sentences.resident_http", "server over 100,000 embedded records, resident after these questions", "MB", at_most(130.0)),
    row("sentences.resident_http_prompts", "the same, after these prompts", "MB", at_most(130.0)),
    row("sentences.store_10k", "store of 10,000 records with sentence vectors", "MB", NONE),
    row("sentences.store_100k", "store of 100,000 records with sentence vectors", "MB", at_most(140.0)),
    row("reembed.recall_alone", "recall, 100,000 records, new questions, alone", "ms", NONE),
    row("reembed.recall", "the same during `heirloom reembed`", "ms", NONE),
    row("reembed.recall_p99", "p99 of the second by that of the first", "times", at_most(1.5)),
    row("reembed.rate", "`heirloom reembed` meanwhile: texts of about 40 tokens", "texts/s", NONE),
    row("reembed.stop", "`heirloom reembed`: from an interrupt to its end", "ms", NONE),
    row("hooks.SessionStart", "hook: session begins", "ms", at_most_both(20.0, 25.0)),
    row("hooks.UserPromptSubmit", "hook: prompt", "ms", at_most_both(10.0, 25.0)),
    row("hooks.PreToolUse", "hook: before a tool", "ms", at_most_both(10.0, 25.0)),
    row("hooks.PostToolUse", "hook: after a tool", "ms", at_most_both(10.0, 25.0)),
    row("hooks.PostToolUseFailure", "hook: after a failure", "ms", at_most_both(10.0, 25.0)),
    row("hooks.Stop", "hook: a turn ends", "ms", at_most_both(10.0, 25.0)),
    row("hooks.SessionEnd", "hook: session ends", "ms", at_most_both(10.0, 25.0)),
    row("hooks.Stop_with_a_turn", "hook: a turn ends, the conversation is imported and its lessons are stored", "ms", at_most_both(15.0, 25.0)),
    row("hooks.PreCompact_with_a_turn", "hook: before a compaction, the same", "ms", at_most_both(15.0, 25.0)),
    row("hooks.SessionEnd_with_a_turn", "hook: session ends, the same", "ms", at_most_both(15.0, 25.0)),
    row("hooks.SessionEnd_with_400_turns", "hook: session ends, 400 new turns", "ms", NONE),
    row("hooks.outside", "hook outside of a project", "ms", NONE),
    row("mcp.tools_list", "`heirloom mcp`: `tools/list` from process start", "ms", at_most(15.0)),
    row("mcp.recall_first", "`heirloom mcp`: first recall, 100,000 records", "ms", NONE),
    row("mcp.recall_second", "`heirloom mcp`: second recall", "ms", NONE),
    row("mcp.recall_running", "`heirloom mcp`: recall of a running server, 10,000 records", "ms", at_most(1.0)),
    row("mcp.resident_before", "`heirloom mcp`: resident before the first recall", "MB", at_most(40.0)),
    row("mcp.resident_after", "`heirloom mcp`: resident after two recalls", "MB", at_most(75.0)),
    row("server.start", "server: process start to the first answer", "ms", at_most(50.0)),
    row("server.get_one_rate", "server: GET of a fact by its key", "/s", at_least(5_000.0)),
    row("server.get_ten_rate", "server: GET of the newest ten", "/s", at_least(5_000.0)),
    row("server.post_rate", "server: durable POST of an episode", "/s", at_least(5_000.0)),
    row("server.post", "server: latency of that POST", "ms", p99_over_yardstick(20.0)),
    row("server.recall_rate", "server: recall, 100,000 records and what the POSTs wrote", "/s", at_least(800.0)),
    row("server.recall", "server: latency of that recall", "ms", NONE),
    row("server.resident_get_ten", "server: resident after the GETs", "MB", NONE),
    row("server.resident_post", "server: resident after the POSTs", "MB", NONE),
    row("server.resident_recall", "server: resident after the recalls", "MB", at_most(110.0)),
    row("server.streams", "server: 1,000 idle event streams, more memory", "MB", at_most(60.0)),
    row("server.page_time", "server: slowest page", "ms", at_most(30.0)),
    row("server.page_size", "server: largest page, compressed", "KB", at_most(60.0)),
    row("window.cold", "window of 20,000 messages, 3.7 million tokens, without state", "ms", at_most(25.0)),
    row("window.turn", "window of 20,000 messages, one more turn with state", "ms", at_most_both(1.0, 1.0)),
    row("window.command", "`heirloom compact` of 20,000 messages", "ms", NONE),
    row("window.command_first", "`heirloom compact` of 20,000 messages, first call of a session", "ms", NONE),
    row("window.command_next", "`heirloom compact` of 20,000 messages, next call of the session", "ms", NONE),
    row("window.cost", "window over recorded conversations: cost against no policy", "×", at_most(0.52)),
    row("window.cost_refetch", "window over recorded conversations: with fetching again", "×", at_most(0.59)),
    row("window.cost_median", "window over recorded conversations: median conversation", "×", at_most(0.90)),
    row("window.cost_worst", "window over recorded conversations: worst conversation", "×", at_most(1.15)),
    row("window.breaks", "window over recorded conversations: requests that break the cache", "%", at_most(3.0)),
    row("window.peak", "window over recorded conversations: largest request", "tokens", at_most(41_000.0)),
    row("window.goal", "window over recorded conversations: requests with the goal", "%", at_least(100.0)),
    row("window.near", "window over recorded conversations: requests with the goal near their end", "%", at_least(97.0)),
    row("window.recall", "window over recorded conversations: identifiers that are needed again and present", "%", at_least(95.0)),
    row("window.fresh", "window over recorded conversations: fresh identifiers present", "%", at_least(98.0)),
    row("window.old", "window over recorded conversations: old identifiers present", "%", at_least(83.0)),
    row("window.lost", "window over recorded conversations: tokens beyond recovery", "tokens", at_most(0.0)),
    row("tokens.different", "token counts of recorded texts that two programs do not share", "texts", at_most(0.0)),
    row("tokens.error", "error of the estimate of tokens, all texts", "%", NONE),
    row("transcripts.import", "import of transcripts", "MB/s", NONE),
    row("transcripts.again", "import of one transcript again, nothing new", "ms", NONE),
    row("fleet.write_share", "PostgreSQL: durable POST of one server, 64 connections, as a share of `pgbench` with the same statements", "×", at_least(0.5)),
    row("fleet.write_rate", "PostgreSQL: durable POST, one server, 64 connections", "/s", NONE),
    row("fleet.write", "PostgreSQL: latency of that POST", "ms", NONE),
    row("fleet.write_all_rate", "PostgreSQL: durable POST, three servers", "/s", NONE),
    row("fleet.write_all", "PostgreSQL: latency of that POST with three servers", "ms", NONE),
    row("fleet.write_one", "PostgreSQL: durable POST over one connection", "ms", NONE),
    row("fleet.write_growth", "PostgreSQL: the same, 1,000 projects instead of 10", "×", at_most(1.3)),
    row("fleet.recall_rate", "PostgreSQL: recall from the cache, one server, 64 connections", "/s", NONE),
    row("fleet.recall", "PostgreSQL: latency of that recall", "ms", NONE),
    row("fleet.recall_all_rate", "PostgreSQL: recall from the caches, three servers", "/s", NONE),
    row("fleet.recall_all", "PostgreSQL: latency of that recall with three servers", "ms", NONE),
    row("fleet.recall_cold_rate", "PostgreSQL: first recall of each project after a start, 64 connections", "/s", NONE),
    row("fleet.recall_cold", "PostgreSQL: latency of that first recall", "ms", NONE),
    row("fleet.recall_one", "PostgreSQL: recall from the cache over one connection", "ms", NONE),
    row("fleet.recall_growth", "PostgreSQL: the same, 1,000 projects instead of 10", "×", at_most(1.3)),
    row("fleet-large.warm", "PostgreSQL: recall from the cache, 100,000 records in one project", "ms", over_yardstick(1.5)),
    row("fleet-large.first", "PostgreSQL: first recall after a start, 10,000 records in the project", "ms", at_most(40.0)),
    row("fleet.resident", "PostgreSQL: largest server after all of it", "MB", NONE),
    row("fleet.kills", "PostgreSQL: acknowledged writes around the kills of a server, each present once", "writes", NONE),
    row("fleet.connections", "PostgreSQL: acknowledged writes while all connections of the database were ended, each present once", "writes", NONE),
    row("citus.write_share", "Citus: durable POST of one server, 64 connections, as a share of `pgbench` with the same statements", "×", at_least(0.5)),
    row("citus.write_rate", "Citus: durable POST, one server, 64 connections", "/s", NONE),
    row("citus.write", "Citus: latency of that POST", "ms", NONE),
    row("citus.write_all_rate", "Citus: durable POST, three servers", "/s", NONE),
    row("citus.write_all", "Citus: latency of that POST with three servers", "ms", NONE),
    row("citus.write_one", "Citus: durable POST over one connection", "ms", NONE),
    row("citus.write_growth", "Citus: the same, 1,000 projects instead of 10", "×", at_most(1.3)),
    row("citus.recall_rate", "Citus: recall from the cache, one server, 64 connections", "/s", NONE),
    row("citus.recall", "Citus: latency of that recall", "ms", NONE),
    row("citus.recall_all_rate", "Citus: recall from the caches, three servers", "/s", NONE),
    row("citus.recall_all", "Citus: latency of that recall with three servers", "ms", NONE),
    row("citus.recall_cold_rate", "Citus: first recall of each project after a start, 64 connections", "/s", NONE),
    row("citus.recall_cold", "Citus: latency of that first recall", "ms", NONE),
    row("citus.recall_one", "Citus: recall from the cache over one connection", "ms", NONE),
    row("citus.recall_growth", "Citus: the same, 1,000 projects instead of 10", "×", at_most(1.3)),
    row("citus-large.warm", "Citus: recall from the cache, 100,000 records in one project", "ms", over_yardstick(1.5)),
    row("citus-large.first", "Citus: first recall after a start, 10,000 records in the project", "ms", at_most(40.0)),
    row("citus.resident", "Citus: largest server after all of it", "MB", NONE),
    row("citus.kills", "Citus: acknowledged writes around the kills of a server, each present once", "writes", NONE),
    row("citus.connections", "Citus: acknowledged writes while all connections of the database were ended, each present once", "writes", NONE),
    row("citus-faults.worker_share", "Citus, one of two workers stopped: projects that accept writes; the others get 503 with `Retry-After`", "%", NONE),
    row("citus-faults.worker_write", "Citus, one worker stopped: a write to an unaffected project, median", "ms", NONE),
    row("citus-faults.worker_recovery", "Citus: return of the worker to writes in all projects", "s", at_most(10.0)),
    row("faults.restart", "acknowledged writes around a crash of the primary, each present once", "writes", NONE),
    row("faults.restart_recovery", "return of the primary to writes through each of three servers", "s", at_most(10.0)),
    row("faults.promotion", "acknowledged writes around the promotion of a synchronous replica, each present once", "writes", NONE),
    row("faults.promotion_recovery", "promotion of the replica to writes", "s", at_most(10.0)),
    row("faults.full_disk", "acknowledged writes before the disk of the database was full; reads continue, and writes after it was enlarged", "writes", NONE),
    row("size.binary", "binary, with the server and the sentence transformer", "MB", at_most(68.0)),
];

/// The table of comparisons.
#[rustfmt::skip]
pub(crate) const COMPARISONS: &[Row] = &[
    row("recall.fts5_10k", "FTS5, OR of all words, 10,000 records", "ms", NONE),
    row("recall.fts5_100k", "FTS5, OR of all words, 100,000 records", "ms", NONE),
    row("recall.fts5_1m", "FTS5, OR of all words, 1,000,000 records", "ms", NONE),
    row("hooks.shell", "`sh -c true`", "ms", NONE),
    row("window.keep_last", "window that keeps the last 40,000 tokens: cost against no policy", "×", NONE),
];

/// Metrics that are in the results and in no table: each is a yardstick or a step of another one.
pub(crate) const UNLISTED: &[&str] = &[
    "citus.baseline_rate",
    "fleet.baseline_rate",
    "hooks.sync",
    "recall.fill_1m",
    "recall.resident_1m",
    "recall.store_1m",
    "recall.write_1m",
    "redact.first_secret",
    "redact.short",
    "redact.short_secret",
    "redact.write",
    "server.get_one",
    "server.get_ten",
    "server.resident_get_one",
    "server.resident_start",
    "server.sync",
    "start.context_100k_open",
    "start.context_10k_open",
    "start.version_100k",
    "start.version_100k_open",
    "start.version_10k_open",
    "tokens.load",
];

//! Answers about a project and its store: setup, state, copies, repair, settings.

use super::imports::ImportReport;
use super::record::Counts;
use crate::schema_files::{AnswerSchema, Time};
use schemars::JsonSchema;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<InitAnswer>("init.json", &["init"]),
        AnswerSchema::value::<Status>("status.json", &["status"]),
        AnswerSchema::value::<BackupAnswer>("backup.json", &["backup"]),
        AnswerSchema::value::<RestoreAnswer>("restore.json", &["restore"]),
        AnswerSchema::value::<DoctorAnswer>("doctor.json", &["doctor"]),
        AnswerSchema::value::<ReembedAnswer>("reembed.json", &["reembed"]),
        AnswerSchema::value::<ConfigAnswer>("config.json", &["config"]),
        AnswerSchema::value::<InstallAnswer>("install.json", &["install", "uninstall"]),
        AnswerSchema::lines::<DemoAnswer>("demo.json", &["demo"]),
    ]
}

#[derive(JsonSchema)]
struct InitAnswer {
    project: String,
    /// The short name for people.
    name: String,
    /// The folder of the store.
    folder: String,
    /// Files that were made; empty for a project that has memory already.
    created: Vec<String>,
    /// Files and folders whose permissions were too wide.
    tightened: Vec<String>,
    /// Memories in the data folder whose project folders are gone, if `--user` begins a new memory.
    lost: Vec<LostMemory>,
    /// Memory of other tools that can be imported; nothing is imported without `--import`.
    offers: Vec<Offer>,
    /// Memory of other programs at its usual place, with the command that imports it.
    memories: Vec<MemoryPlace>,
    /// Sources that could not be read.
    notes: Vec<String>,
    /// With `--import`: all offers as one import; with `--dry-run` what it would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<InitImport>,
    /// With `--adopt`: the memory that became a part of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    adopted: Option<Adopted>,
    /// Agent programs that were found on this machine, or named by `--install`.
    agents: Vec<OfferedAgent>,
}

#[derive(JsonSchema)]
struct OfferedAgent {
    agent: String,
    /// The settings file of the user.
    file: String,
    /// `offered`, `installed` or `unchanged`.
    outcome: String,
}

#[derive(JsonSchema)]
struct LostMemory {
    folder: String,
    records: u64,
}

#[derive(JsonSchema)]
struct Offer {
    path: String,
    format: String,
    entries: u64,
    /// Entries that this memory has already.
    known: u64,
    /// Entries with a secret.
    redacted: u64,
}

#[derive(JsonSchema)]
struct MemoryPlace {
    path: String,
    format: String,
    command: String,
}

#[derive(JsonSchema)]
struct InitImport {
    #[serde(flatten)]
    report: ImportReport,
    dry_run: bool,
}

#[derive(JsonSchema)]
struct Adopted {
    from: String,
    records: u64,
    import: Option<String>,
    diagnostics: Vec<String>,
}

#[derive(JsonSchema)]
struct Status {
    project: String,
    /// The short name for people.
    name: String,
    /// The folder of the other copy, until a person decided what this one is.
    copy_of: Option<String>,
    /// Memories in the store that no project finds any more.
    others: Vec<OtherMemory>,
    store: String,
    schema_version: u64,
    version: String,
    enabled: bool,
    root: String,
    counts: Counts,
    size_bytes: u64,
    last_write: Option<Time>,
    health: Health,
    findings: Vec<String>,
    hooks: HookStatus,
    /// Number of files in the inbox; at most 2,000 are counted.
    inbox_waiting: u64,
    /// Texts with and without a vector of the sentence transformer; `null` if it is off.
    sentence_vectors: Option<SentenceVectors>,
    /// Today's usage of the model that writes summaries; `null` if no model is configured.
    writer: Option<WriterUsage>,
}

#[derive(JsonSchema)]
struct SentenceVectors {
    texts: u64,
    /// Texts that wait for a vector.
    missing: u64,
}

#[derive(JsonSchema)]
struct OtherMemory {
    project: String,
    records: u64,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Damaged,
}

#[derive(JsonSchema)]
struct HookStatus {
    installed: Vec<InstalledHooks>,
    /// The number of the newest calls that the figures are about, some thousands at most.
    calls: u64,
    failures: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    last: Option<HookCall>,
}

#[derive(JsonSchema)]
struct InstalledHooks {
    agent: String,
    scope: HookScope,
    file: String,
    /// False if some of the hooks are missing.
    whole: bool,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HookScope {
    User,
    Project,
}

#[derive(JsonSchema)]
struct HookCall {
    at: Time,
    event: String,
}

#[derive(JsonSchema)]
struct WriterUsage {
    model: String,
    day: Option<String>,
    calls: u64,
    failures: u64,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    cost_micros: Option<u64>,
    daily_tokens: u64,
    daily_cents: u64,
    problem: Option<String>,
}

#[derive(JsonSchema)]
struct BackupAnswer {
    file: String,
    size_bytes: u64,
    schema_version: u64,
}

#[derive(JsonSchema)]
struct RestoreAnswer {
    file: String,
    records: u64,
    /// The schema of the file.
    schema_version: u64,
    /// The copy of the state before, if there was one.
    previous: Option<String>,
    /// True if the state before was damaged.
    was_damaged: bool,
    /// The `memory.json` that was rewritten.
    mirror: Option<String>,
    /// The projects in the store.
    projects: Vec<String>,
}

#[derive(JsonSchema)]
struct DoctorAnswer {
    /// False if a check is bad.
    ok: bool,
    /// `database`, `references`, `rows`, `journal` (only with a last transaction that was never complete), `version`,
    /// `vectors` (only with other vectors than the built-in ones), `index`, `marker`, `mirror`, `copies`,
    /// `permissions`, `temporary files`, `disk`, `clock`, `config`, `hooks`, `identity`; with `--repair` the checks
    /// after it.
    checks: Vec<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<Repair>,
}

#[derive(JsonSchema)]
struct Check {
    name: String,
    ok: bool,
    level: CheckLevel,
    message: String,
    hint: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CheckLevel {
    Ok,
    Warn,
    Bad,
}

#[derive(JsonSchema)]
struct Repair {
    done: Vec<String>,
    /// Messages of repairs that failed.
    failed: Vec<String>,
    /// Paths of a damaged database that was kept.
    kept: Vec<String>,
    recovered: Option<Recovered>,
}

#[derive(JsonSchema)]
struct Recovered {
    /// Rows by table.
    rows: BTreeMap<String, u64>,
    pages_bad: u64,
    rows_bad: u64,
    journal_pages_bad: u64,
    renamed: Vec<String>,
    retired: u64,
    sessions_made: u64,
    rows_left_out: u64,
    journal_pages_lost: Vec<u64>,
    /// The first 1,000 rows that did not come back.
    left_out: Vec<LostRow>,
}

#[derive(JsonSchema)]
struct LostRow {
    table: String,
    id: Option<String>,
    reason: String,
}

#[derive(JsonSchema)]
struct ReembedAnswer {
    model: String,
    texts: u64,
    embedded: u64,
    missing: u64,
    /// Another model whose vectors are gone.
    replaced: Option<ReplacedModel>,
}

#[derive(JsonSchema)]
struct ReplacedModel {
    model: String,
    vectors: u64,
}

#[derive(JsonSchema)]
struct ConfigAnswer {
    config: Vec<ConfigKey>,
    warnings: Vec<ConfigWarning>,
}

#[derive(JsonSchema)]
struct ConfigKey {
    key: String,
    value: Value,
    /// `default`, `user`, `project`, `environment` or `flag`.
    origin: String,
    /// The file, variable or flag.
    place: String,
}

#[derive(JsonSchema)]
struct ConfigWarning {
    place: String,
    message: String,
}

#[derive(JsonSchema)]
struct InstallAnswer {
    agent: String,
    scope: HookScope,
    /// The file with the hooks.
    file: String,
    /// Outcome of the first file that changes.
    outcome: InstallOutcome,
    /// The file with the hooks as it was.
    backup: Option<String>,
    /// Changes of all files.
    diff: String,
    /// All files; that with the hooks is first.
    files: Vec<InstalledFile>,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct InstalledFile {
    part: InstalledPart,
    file: String,
    outcome: InstallOutcome,
    backup: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum InstalledPart {
    Hooks,
    Mcp,
    Instructions,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum InstallOutcome {
    Installed,
    Removed,
    Unchanged,
    DryRun,
}

/// The result of the example run; with `--serve` the address, then the link.
#[derive(JsonSchema)]
#[serde(untagged)]
enum DemoAnswer {
    Run(DemoRun),
    Listening(super::server::Listening),
    Link(super::server::Link),
}

#[derive(JsonSchema)]
struct DemoRun {
    success: bool,
    iterations: u64,
    reason: String,
    /// The text of the record that was restored.
    undone: Option<String>,
    /// True if the context of the last task has the fact that it needs.
    old_fact_told: bool,
}

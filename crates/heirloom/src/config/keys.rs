//! Config keys: their types, limits, and who may set them.

mod value_type;

pub(crate) use value_type::ValueType;

use heirloom_model::ConflictPolicy;
use heirloom_model::limits::{
    CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, EMBEDDING_DIMS_MAX,
    EMBEDDING_QUESTION_MS_MAX, HISTORY_LIVE_MAX, HOOK_ANCHOR_EVERY_MAX, ITERATION_TIMEOUT_S_MAX,
    ITERATIONS_MAX, MIRROR_ENTRIES_MAX, RETENTION_DAYS_MAX, STALL_LIMIT_MAX, STANDING_CHARS_MAX,
    WINDOW_NUMBER_MAX, WORKSPACE_FILE_CHARS_MAX, WRITER_DAILY_MAX, WRITER_OUTPUT_TOKENS_MAX,
    WRITER_TIMEOUT_S_MAX,
};
use heirloom_model::settings::ContextSelection;

/// Check of a value; the error says what is accepted.
pub(crate) type ValueCheck = fn(&toml::Value) -> Result<(), &'static str>;

/// Definition of one config key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfigKey {
    /// `section.key`.
    pub(crate) name: &'static str,
    /// The type of its value.
    pub(crate) kind: ValueType,
    /// The harm that an untrusted value could do: run a program, open a port, send data away, let a secret through.
    /// If set, the key is not taken from a project's file, which comes with a clone.
    pub(crate) trusted_only: Option<&'static str>,
    /// Check of a value in a project's file, for a key of which only some values are harmless there.
    pub(crate) check_of_project: Option<ValueCheck>,
    /// True if the lists of all layers are merged instead of replaced.
    pub(crate) is_cumulative: bool,
}

/// Names of the conflict policies.
const POLICIES: [&str; 3] = [
    ConflictPolicy::HigherConfidence.as_str(),
    ConflictPolicy::Newest.as_str(),
    ConflictPolicy::Ask.as_str(),
];

/// Names of the rules that select a context's items.
const SELECTIONS: [&str; 2] = [
    ContextSelection::Worth.as_str(),
    ContextSelection::Priority.as_str(),
];

const fn key(name: &'static str, kind: ValueType) -> ConfigKey {
    ConfigKey {
        name,
        kind,
        trusted_only: None,
        check_of_project: None,
        is_cumulative: false,
    }
}

/// Names of the embedders.
const EMBEDDERS: [&str; 3] = ["builtin", "openai", "folder"];

/// Names of the writers of summaries.
const WRITERS: [&str; 3] = ["none", "anthropic", "openai"];

/// Defines a key that a project's file could use to send data away.
const fn sending_key(name: &'static str, kind: ValueType) -> ConfigKey {
    ConfigKey {
        trusted_only: Some("send what is remembered away"),
        ..key(name, kind)
    }
}

/// Accepts the paths at which a mirror replaces no file of the project.
fn check_mirror_path(value: &toml::Value) -> Result<(), &'static str> {
    let path = value.as_str().unwrap_or_default();
    let name = path.strip_prefix(".heirloom/").unwrap_or_default();
    let is_own = name.ends_with(".json") && !name.contains(['/', '\\']);
    match is_own || path == ".agentium/memory.json" {
        true => Ok(()),
        false => Err(
            "a project's file may only name .agentium/memory.json or a JSON file in .heirloom: set another path in the user's config",
        ),
    }
}

/// Accepts words that no sentence begins with, such as `TEAM_MEMORY`: every line behind a prefix becomes a record.
fn check_prefixes(value: &toml::Value) -> Result<(), &'static str> {
    let words = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_marker = |word: &toml::Value| {
        let word = word.as_str().unwrap_or_default();
        let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        word.contains('_') && word.trim_end_matches(':').chars().all(is_upper)
    };
    match words.iter().all(is_marker) {
        true => Ok(()),
        false => Err(
            "a project's file may only name prefixes such as TEAM_MEMORY: set others in the user's config",
        ),
    }
}

/// Type of a number of days.
const DAYS: ValueType = ValueType::Int(0, RETENTION_DAYS_MAX as i64);

/// Type of a number in the window policy.
const NUMBER: ValueType = ValueType::Int(0, WINDOW_NUMBER_MAX as i64);

/// Every key, in the order of `defaults.toml`.
pub(crate) const KEYS: &[ConfigKey] = &[
    key("project.name", ValueType::Text),
    sending_key("store.url", ValueType::DatabaseAddress),
    key("memory.enabled", ValueType::Bool),
    ConfigKey {
        check_of_project: Some(check_mirror_path),
        ..key("memory.file_path", ValueType::Text)
    },
    key(
        "memory.max_entries",
        ValueType::Int(0, MIRROR_ENTRIES_MAX as i64),
    ),
    key("memory.conflict_policy", ValueType::Word(&POLICIES)),
    key(
        "memory.context_budget",
        ValueType::Int(0, CONTEXT_BUDGET_CHARS_MAX as i64),
    ),
    key(
        "memory.context_budget_tokens",
        ValueType::Int(0, CONTEXT_BUDGET_TOKENS_MAX as i64),
    ),
    key("memory.snapshot_on_shutdown", ValueType::Bool),
    key(
        "memory.conversation_history_live",
        ValueType::Int(1, HISTORY_LIVE_MAX as i64),
    ),
    key(
        "memory.conversation_history_token_budget",
        ValueType::Int(0, CONTEXT_BUDGET_TOKENS_MAX as i64),
    ),
    key("plans.root", ValueType::Text),
    key("context.selection", ValueType::Word(&SELECTIONS)),
    key(
        "context.standing_chars",
        ValueType::Int(0, STANDING_CHARS_MAX as i64),
    ),
    key("context.sources", ValueType::Texts),
    key("context.architecture", ValueType::Texts),
    key("retention.episodes_days", DAYS),
    key("retention.artifacts_days", DAYS),
    key("recall.transformer", ValueType::Bool),
    sending_key("embedder.kind", ValueType::Word(&EMBEDDERS)),
    sending_key("embedder.url", ValueType::Text),
    sending_key("embedder.model", ValueType::Text),
    sending_key("embedder.key_variable", ValueType::Text),
    sending_key(
        "embedder.dimensions",
        ValueType::Int(0, EMBEDDING_DIMS_MAX as i64),
    ),
    sending_key(
        "embedder.question_ms",
        ValueType::Int(1, EMBEDDING_QUESTION_MS_MAX as i64),
    ),
    sending_key("embedder.folder", ValueType::Text),
    sending_key("writer.kind", ValueType::Word(&WRITERS)),
    sending_key("writer.url", ValueType::Text),
    sending_key("writer.model", ValueType::Text),
    sending_key("writer.key_variable", ValueType::Text),
    sending_key(
        "writer.timeout_s",
        ValueType::Int(1, WRITER_TIMEOUT_S_MAX as i64),
    ),
    sending_key(
        "writer.max_output_tokens",
        ValueType::Int(1, WRITER_OUTPUT_TOKENS_MAX as i64),
    ),
    sending_key("writer.lessons", ValueType::Bool),
    sending_key("writer.temperature", ValueType::Temperature),
    sending_key(
        "writer.daily_tokens",
        ValueType::Int(0, WRITER_DAILY_MAX as i64),
    ),
    sending_key(
        "writer.daily_cents",
        ValueType::Int(0, WRITER_DAILY_MAX as i64),
    ),
    sending_key("writer.prices", ValueType::Texts),
    ConfigKey {
        check_of_project: Some(check_prefixes),
        ..key("signals.prefixes", ValueType::Texts)
    },
    ConfigKey {
        check_of_project: Some(check_prefixes),
        ..key("signals.status_prefixes", ValueType::Texts)
    },
    ConfigKey {
        name: "run.command",
        kind: ValueType::Texts,
        trusted_only: Some("run a program"),
        check_of_project: None,
        is_cumulative: false,
    },
    key("run.iterations", ValueType::Int(1, ITERATIONS_MAX as i64)),
    key("run.stall_limit", ValueType::Int(1, STALL_LIMIT_MAX as i64)),
    key(
        "run.timeout_s",
        ValueType::Int(1, ITERATION_TIMEOUT_S_MAX as i64),
    ),
    key("run.teach_signals", ValueType::Bool),
    ConfigKey {
        name: "workspace.user_folder",
        kind: ValueType::Text,
        trusted_only: Some("read a person's files"),
        check_of_project: None,
        is_cumulative: false,
    },
    key(
        "workspace.file_chars",
        ValueType::Int(0, WORKSPACE_FILE_CHARS_MAX as i64),
    ),
    key("workspace.days", DAYS),
    key("archive.compress", ValueType::Word(&["none", "gzip"])),
    key(
        "window.profile",
        ValueType::Word(&["default", "large", "seed"]),
    ),
    key("window.read_tools", ValueType::Texts),
    key("window.read_max_length", NUMBER),
    key("window.read_preview_length", NUMBER),
    key("window.critical_tools", ValueType::Texts),
    key("window.critical_max_length", NUMBER),
    key("window.critical_preview_length", NUMBER),
    key("window.max_output_length", NUMBER),
    key("window.preview_length", NUMBER),
    key("window.stale_threshold", NUMBER),
    key("window.summary_threshold", NUMBER),
    key(
        "window.messages_to_keep",
        ValueType::Int(1, WINDOW_NUMBER_MAX as i64),
    ),
    key("window.task_anchor_interval", NUMBER),
    key("window.fallback_tokens", NUMBER),
    key(
        "window.fallback_messages",
        ValueType::Int(2, WINDOW_NUMBER_MAX as i64),
    ),
    key("window.step_min_tokens", NUMBER),
    key("window.expected_turns", NUMBER),
    key("window.cache_match", ValueType::Word(&["prefix", "exact"])),
    key("window.cache_write", ValueType::Price),
    key("window.cache_read", ValueType::Price),
    key("window.cache_lifetime_s", NUMBER),
    key("window.prices", ValueType::Texts),
    key("window.tools", ValueType::Tools),
    ConfigKey {
        name: "redact.rules",
        kind: ValueType::Texts,
        trusted_only: None,
        check_of_project: None,
        is_cumulative: true,
    },
    ConfigKey {
        name: "redact.allow",
        kind: ValueType::Texts,
        trusted_only: Some("let a secret through"),
        check_of_project: None,
        is_cumulative: false,
    },
    ConfigKey {
        name: "commands.allow",
        kind: ValueType::Texts,
        trusted_only: Some("run a program"),
        check_of_project: None,
        is_cumulative: false,
    },
    key("mcp.structured", ValueType::Bool),
    key("hooks.shorten_outputs", ValueType::Bool),
    key("hooks.learn", ValueType::Bool),
    key("hooks.teach", ValueType::Bool),
    key("hooks.ask", ValueType::Bool),
    key(
        "hooks.anchor_every",
        ValueType::Int(0, HOOK_ANCHOR_EVERY_MAX as i64),
    ),
];

impl ConfigKey {
    /// Returns the key with this name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns the name of the environment variable that sets the key.
    pub(crate) fn variable(&self) -> String {
        if self.kind == ValueType::DatabaseAddress {
            return "HEIRLOOM_STORE".to_owned();
        }
        format!(
            "HEIRLOOM_{}",
            self.name.replace('.', "_").to_ascii_uppercase()
        )
    }
}

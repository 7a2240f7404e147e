//! Every key, its type, and who may set it.

use heirloom_model::limits::{
    CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, EMBEDDING_DIMS_MAX,
    EMBEDDING_QUESTION_MS_MAX, HISTORY_LIVE_MAX, ITERATION_TIMEOUT_S_MAX, ITERATIONS_MAX,
    MIRROR_ENTRIES_MAX, RETENTION_DAYS_MAX, STALL_LIMIT_MAX, WINDOW_NUMBER_MAX,
    WORKSPACE_FILE_CHARS_MAX, WRITER_DAILY_MAX, WRITER_OUTPUT_TOKENS_MAX, WRITER_TIMEOUT_S_MAX,
};
use heirloom_model::meter::PriceRow;
use heirloom_model::section::SourceRow;
use heirloom_model::{ConflictPolicy, text};
use heirloom_window::{Family, PolicyKeys};
use std::collections::HashSet;
use toml::Value;

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds.
    Int(i64, i64),
    /// A text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A share of a price.
    Price,
    /// Rules of a window for single tools.
    Tools,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// `section.key`.
    pub(crate) name: &'static str,
    /// The type of its value.
    pub(crate) kind: Type,
    /// What it could do in the wrong hands: run a program, open a port, send data away, let a secret
    /// through. Then a project's file, which comes with a clone, is not listened to.
    pub(crate) trusted_only: Option<&'static str>,
    /// Whether the lists of all layers add up: a later one takes nothing away.
    pub(crate) adds_up: bool,
}

/// The policies for conflicts, by their names.
const POLICIES: [&str; 3] = [
    ConflictPolicy::HigherConfidence.as_str(),
    ConflictPolicy::Newest.as_str(),
    ConflictPolicy::Ask.as_str(),
];

const fn key(name: &'static str, kind: Type) -> Key {
    Key {
        name,
        kind,
        trusted_only: None,
        adds_up: false,
    }
}

/// What makes vectors, by their names.
const EMBEDDERS: [&str; 3] = ["builtin", "openai", "folder"];

/// What writes summaries, by their names.
const WRITERS: [&str; 3] = ["none", "anthropic", "openai"];

/// A key of which a project's file could make a leak.
const fn sends(name: &'static str, kind: Type) -> Key {
    Key {
        trusted_only: Some("send what is remembered away"),
        ..key(name, kind)
    }
}

/// A number of days.
const DAYS: Type = Type::Int(0, RETENTION_DAYS_MAX as i64);

/// A number of a window.
const NUMBER: Type = Type::Int(0, WINDOW_NUMBER_MAX as i64);

/// Every key, in the order of `defaults.toml`.
pub(crate) const KEYS: &[Key] = &[
    key("project.name", Type::Text),
    key("memory.enabled", Type::Bool),
    key("memory.file_path", Type::Text),
    key(
        "memory.max_entries",
        Type::Int(0, MIRROR_ENTRIES_MAX as i64),
    ),
    key("memory.conflict_policy", Type::Word(&POLICIES)),
    key(
        "memory.context_budget",
        Type::Int(0, CONTEXT_BUDGET_CHARS_MAX as i64),
    ),
    key(
        "memory.context_budget_tokens",
        Type::Int(0, CONTEXT_BUDGET_TOKENS_MAX as i64),
    ),
    key("memory.snapshot_on_shutdown", Type::Bool),
    key(
        "memory.conversation_history_live",
        Type::Int(1, HISTORY_LIVE_MAX as i64),
    ),
    key(
        "memory.conversation_history_token_budget",
        Type::Int(0, CONTEXT_BUDGET_TOKENS_MAX as i64),
    ),
    key("plans.root", Type::Text),
    key("context.sources", Type::Texts),
    key("context.architecture", Type::Texts),
    key("retention.episodes_days", DAYS),
    key("retention.artifacts_days", DAYS),
    sends("embedder.kind", Type::Word(&EMBEDDERS)),
    sends("embedder.url", Type::Text),
    sends("embedder.model", Type::Text),
    sends("embedder.key_variable", Type::Text),
    sends(
        "embedder.dimensions",
        Type::Int(0, EMBEDDING_DIMS_MAX as i64),
    ),
    sends(
        "embedder.question_ms",
        Type::Int(1, EMBEDDING_QUESTION_MS_MAX as i64),
    ),
    sends("embedder.folder", Type::Text),
    sends("writer.kind", Type::Word(&WRITERS)),
    sends("writer.url", Type::Text),
    sends("writer.model", Type::Text),
    sends("writer.key_variable", Type::Text),
    sends(
        "writer.timeout_s",
        Type::Int(1, WRITER_TIMEOUT_S_MAX as i64),
    ),
    sends(
        "writer.max_output_tokens",
        Type::Int(1, WRITER_OUTPUT_TOKENS_MAX as i64),
    ),
    sends("writer.daily_tokens", Type::Int(0, WRITER_DAILY_MAX as i64)),
    sends("writer.daily_cents", Type::Int(0, WRITER_DAILY_MAX as i64)),
    sends("writer.prices", Type::Texts),
    key("signals.prefixes", Type::Texts),
    key("signals.status_prefixes", Type::Texts),
    Key {
        name: "run.command",
        kind: Type::Texts,
        trusted_only: Some("run a program"),
        adds_up: false,
    },
    key("run.iterations", Type::Int(1, ITERATIONS_MAX as i64)),
    key("run.stall_limit", Type::Int(1, STALL_LIMIT_MAX as i64)),
    key(
        "run.timeout_s",
        Type::Int(1, ITERATION_TIMEOUT_S_MAX as i64),
    ),
    key("run.teach_signals", Type::Bool),
    Key {
        name: "workspace.user_folder",
        kind: Type::Text,
        trusted_only: Some("read a person's files"),
        adds_up: false,
    },
    key(
        "workspace.file_chars",
        Type::Int(0, WORKSPACE_FILE_CHARS_MAX as i64),
    ),
    key("workspace.days", DAYS),
    key("archive.compress", Type::Word(&["none", "gzip"])),
    key("window.profile", Type::Word(&["default", "large", "seed"])),
    key("window.read_tools", Type::Texts),
    key("window.read_max_length", NUMBER),
    key("window.read_preview_length", NUMBER),
    key("window.critical_tools", Type::Texts),
    key("window.critical_max_length", NUMBER),
    key("window.critical_preview_length", NUMBER),
    key("window.max_output_length", NUMBER),
    key("window.preview_length", NUMBER),
    key("window.stale_threshold", NUMBER),
    key("window.summary_threshold", NUMBER),
    key(
        "window.messages_to_keep",
        Type::Int(1, WINDOW_NUMBER_MAX as i64),
    ),
    key("window.task_anchor_interval", NUMBER),
    key("window.fallback_tokens", NUMBER),
    key(
        "window.fallback_messages",
        Type::Int(2, WINDOW_NUMBER_MAX as i64),
    ),
    key("window.step_min_tokens", NUMBER),
    key("window.expected_turns", NUMBER),
    key("window.cache_match", Type::Word(&["prefix", "exact"])),
    key("window.cache_write", Type::Price),
    key("window.cache_read", Type::Price),
    key("window.cache_lifetime_s", NUMBER),
    key("window.prices", Type::Texts),
    key("window.tools", Type::Tools),
    Key {
        name: "redact.rules",
        kind: Type::Texts,
        trusted_only: None,
        adds_up: true,
    },
    Key {
        name: "redact.allow",
        kind: Type::Texts,
        trusted_only: Some("let a secret through"),
        adds_up: false,
    },
    Key {
        name: "commands.allow",
        kind: Type::Texts,
        trusted_only: Some("run a program"),
        adds_up: false,
    },
    key("hooks.shorten_outputs", Type::Bool),
];

impl Key {
    /// The key of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!(
            "HEIRLOOM_{}",
            self.name.replace('.', "_").to_ascii_uppercase()
        )
    }

    /// `value` if it fits the key; else what is wrong.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let texts = |list: &Vec<Value>| list.iter().all(Value::is_str);
        match (self.kind, value) {
            (Type::Bool, Value::Boolean(_)) | (Type::Text, Value::String(_)) => Ok(()),
            (Type::Word(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Type::Word(words), Value::String(word)) => Err(format!(
                "expected {}, found `{}`",
                words.join(" or "),
                text::excerpt(word, 60)
            )),
            (Type::Int(low, high), Value::Integer(n)) if (low..=high).contains(n) => Ok(()),
            (Type::Int(low, high), Value::Integer(n)) => {
                Err(format!("{n} is outside {low}..{high}"))
            }
            (Type::Texts, Value::Array(list)) if texts(list) => self.check_rows(list),
            (Type::Price, Value::Integer(_) | Value::Float(_)) | (Type::Tools, Value::Table(_)) => {
                window(self.name, value)
            }
            (kind, other) => Err(format!(
                "expected {}, found {}",
                kind.describe(),
                other.type_str()
            )),
        }
    }

    /// The rows of a list that has rows; whatever else is a text needs no look.
    fn check_rows(&self, list: &[Value]) -> Result<(), String> {
        let name_of: fn(&str) -> Result<String, String> = match self.name {
            "context.sources" => |row| SourceRow::parse(row).map(|row| row.name),
            "writer.prices" => |row| PriceRow::parse(row).map(|row| row.model),
            "window.prices" => |row| Family::parse(row).map(|row| row.pattern),
            _ => return Ok(()),
        };
        let mut seen = HashSet::new();
        for row in list.iter().filter_map(Value::as_str) {
            let name = name_of(row)?;
            if let Some(name) = seen.replace(name) {
                return Err(format!("`{name}` has two rows"));
            }
        }
        Ok(())
    }

    /// Reads the text of a variable or flag as a value of the key's type.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Type::Text | Type::Word(_) => Value::String(text.to_owned()),
            Type::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Boolean(true),
                "false" | "0" | "no" | "off" => Value::Boolean(false),
                _ => return Err(format!("expected true or false, found `{text}`")),
            },
            Type::Int(..) => Value::Integer(
                text.trim()
                    .parse()
                    .map_err(|_| format!("expected a whole number, found `{text}`"))?,
            ),
            Type::Texts => list(text)?,
            Type::Price | Type::Tools => text
                .trim()
                .parse::<Value>()
                .map_err(|error| error.message().to_owned())?,
        };
        self.check(&value)?;
        Ok(value)
    }
}

/// Whether the window takes a value under that key.
fn window(name: &str, value: &Value) -> Result<(), String> {
    let key = name.strip_prefix("window.").unwrap_or(name);
    let keys = toml::Table::from_iter([(key.to_owned(), value.clone())]);
    let keys: PolicyKeys = keys
        .try_into()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    match keys.policy() {
        Ok(_) => Ok(()),
        Err(fault) => Err(fault.message),
    }
}

/// A list as TOML (`["a", "b"]`) or as words between commas.
fn list(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('[') {
        return text.parse::<Value>().map_err(|e| e.message().to_owned());
    }
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    Ok(Value::Array(
        words.map(|word| Value::String(word.to_owned())).collect(),
    ))
}

impl Type {
    fn describe(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int(..) => "a whole number",
            Self::Text => "a text",
            Self::Word(_) => "a word",
            Self::Texts => "a list of texts",
            Self::Price => "a number such as 0.1",
            Self::Tools => "a table of tools with max_length, preview_length and critical",
        }
    }
}

/// Whether `value` fits the key of this name; else what is wrong.
pub(crate) fn check(section: &str, key: &str, value: &Value) -> Result<(), String> {
    match Key::named(&format!("{section}.{key}")) {
        Some(key) => key.check(value),
        None => Err("there is no such key".to_owned()),
    }
}

//! The settings that the engine goes by, resolved: no layer, no `Option` for "not said".

use crate::section::SourceRow;
use crate::{Budget, ConflictPolicy, limits};
use std::path::PathBuf;

/// Settings of memory, signals and the run loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether memory is on; `init` switches it on.
    pub enabled: bool,
    /// The mirror, relative to the project's root.
    pub mirror_path: String,
    /// Decisions and errors kept in the mirror and offered to the context.
    pub max_entries: usize,
    /// Who wins when two sources say different things of one key.
    pub conflict_policy: ConflictPolicy,
    /// The budget of a context when nothing is said.
    pub context_budget: Budget,
    /// The sources of a context besides Session Memory, in the order of priority.
    pub sources: Vec<SourceRow>,
    /// Files that say how the project is built.
    pub architecture_files: Vec<String>,
    /// Prefixes that begin a signal line, such as `HEIRLOOM_MEMORY`.
    pub memory_prefixes: Vec<String>,
    /// Prefixes that begin a status line, such as `HEIRLOOM_STATUS`.
    pub status_prefixes: Vec<String>,
    /// How a run goes.
    pub run: RunSettings,
    /// Whether an agent's working memory is written when its process ends, and read when it starts again.
    pub snapshot_on_shutdown: bool,
    /// How much of a conversation is told.
    pub history: HistorySettings,
    /// The folder of plans, relative to the project's root.
    pub plans_root: String,
    /// How long things are kept.
    pub retention: RetentionSettings,
    /// What is redacted besides the built-in rules. Nothing switches redaction off.
    pub redact: RedactSettings,
    /// The Markdown files that people and agents both edit.
    pub workspace: WorkspaceSettings,
    /// Whether archives of conversations are packed with gzip.
    pub archive_gzip: bool,
}

/// Settings of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSettings {
    /// The person's own workspace; it need not exist.
    pub user_folder: Option<PathBuf>,
    /// Characters of one file that a prompt gets at most.
    pub file_chars: usize,
    /// Days that a daily log stays before it goes to the archive; 0 = for good.
    pub days: u32,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            user_folder: None,
            file_chars: limits::WORKSPACE_FILE_CHARS_DEFAULT,
            days: limits::WORKSPACE_DAYS_DEFAULT,
        }
    }
}

/// Days after which pruning retires something; 0 = never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionSettings {
    /// Of episodes, but for failures that no later success of their task made up for.
    pub episodes_days: u32,
    /// Of artifacts.
    pub artifacts_days: u32,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            episodes_days: limits::EPISODES_KEPT_DAYS_DEFAULT,
            artifacts_days: 0,
        }
    }
}

/// How much of a conversation goes into a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistorySettings {
    /// Interactions of a session that are told in full; older ones are summarised.
    pub live: usize,
    /// Tokens of its turns; 0 = no limit here.
    pub budget_tokens: usize,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            live: limits::HISTORY_LIVE_DEFAULT,
            budget_tokens: limits::HISTORY_BUDGET_TOKENS_DEFAULT,
        }
    }
}

/// Redaction rules of people, as plain texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactSettings {
    /// Kinds, as the mark says them, and regular expressions: group 1 is the secret, else the whole match.
    pub rules: Vec<(String, String)>,
    /// Regular expressions: a value that one of them matches wholly is left alone.
    pub allow: Vec<String>,
}

/// Settings of the run loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Iterations of one `run`.
    pub iterations: u32,
    /// Identical failures in a row after which it gives up.
    pub stall_limit: u32,
    /// Seconds that one iteration may take.
    pub timeout_s: u64,
    /// Whether prompts say how to write memory.
    pub teach_signals: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            mirror_path: ".heirloom/memory.json".to_owned(),
            max_entries: limits::MIRROR_ENTRIES_DEFAULT,
            conflict_policy: ConflictPolicy::default(),
            context_budget: Budget::Chars(limits::CONTEXT_BUDGET_CHARS_DEFAULT),
            sources: SourceRow::usual(),
            architecture_files: [
                "ARCHITECTURE.md",
                "docs/architecture.md",
                ".radium/architecture.md",
            ]
            .map(str::to_owned)
            .to_vec(),
            memory_prefixes: vec!["HEIRLOOM_MEMORY".to_owned(), "AGENTIUM_MEMORY".to_owned()],
            status_prefixes: vec!["HEIRLOOM_STATUS".to_owned(), "AGENTIUM_STATUS".to_owned()],
            run: RunSettings::default(),
            snapshot_on_shutdown: false,
            history: HistorySettings::default(),
            plans_root: "radium".to_owned(),
            retention: RetentionSettings::default(),
            redact: RedactSettings::default(),
            workspace: WorkspaceSettings::default(),
            archive_gzip: false,
        }
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            iterations: limits::ITERATIONS_DEFAULT,
            stall_limit: limits::STALL_LIMIT_DEFAULT,
            timeout_s: limits::ITERATION_TIMEOUT_S_DEFAULT,
            teach_signals: true,
        }
    }
}

//! Resolved settings of the engine: no layers, no missing values.

use crate::section::SourceRow;
use crate::{Budget, ConflictPolicy, limits};
use std::path::PathBuf;

/// Settings of memory, signals and the run loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// True if memory is enabled; `init` enables it.
    pub enabled: bool,
    /// Path of the mirror, relative to the project's root.
    pub mirror_path: String,
    /// Maximum number of decisions and of errors in the mirror and in the context.
    pub max_entries: usize,
    /// Policy for conflicts between two sources.
    pub conflict_policy: ConflictPolicy,
    /// Default budget of a context.
    pub context_budget: Budget,
    /// True if a person set this budget: it contains the standing texts too.
    pub has_own_budget: bool,
    /// Rule that decides which items a context includes.
    pub context_selection: ContextSelection,
    /// Allowance of standing texts in a context, characters; 0 = none.
    pub standing_chars: usize,
    /// Context sources other than Session Memory, in order of priority.
    pub sources: Vec<SourceRow>,
    /// Architecture documents.
    pub architecture_files: Vec<String>,
    /// Prefixes that begin a signal line, such as `HEIRLOOM_MEMORY`.
    pub memory_prefixes: Vec<String>,
    /// Prefixes that begin a status line, such as `HEIRLOOM_STATUS`.
    pub status_prefixes: Vec<String>,
    /// Settings of the run loop.
    pub run: RunSettings,
    /// True if an agent's working memory is saved at process exit and loaded at the next start.
    pub snapshot_on_shutdown: bool,
    /// Amount of conversation history in prompts.
    pub history: HistorySettings,
    /// Folder of plans, relative to the project's root.
    pub plans_root: String,
    /// Retention periods.
    pub retention: RetentionSettings,
    /// Redaction rules in addition to the built-in ones. Redaction cannot be switched off.
    pub redact: RedactSettings,
    /// The Markdown files that people and agents both edit.
    pub workspace: WorkspaceSettings,
    /// True if archives of conversations are compressed with gzip.
    pub archive_gzip: bool,
    /// True if hooks and imports take lessons from conversations.
    pub learns: bool,
    /// Home folder of the person on this machine, if it is known.
    pub home: Option<PathBuf>,
}

/// Rule that decides which items a context includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextSelection {
    /// Items compete by relevance, kind and age.
    #[default]
    Worth,
    /// Sections come in a fixed order, and items in a section by age.
    Priority,
}

impl ContextSelection {
    /// Returns the name in a config file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worth => "worth",
            Self::Priority => "priority",
        }
    }
}

/// Settings of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSettings {
    /// Workspace of the user; it may be missing.
    pub user_folder: Option<PathBuf>,
    /// Maximum size of one file in a prompt, characters.
    pub file_chars: usize,
    /// Days after which a daily log is archived; 0 = never.
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

/// Retention periods in days, after which pruning retires records; 0 = never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionSettings {
    /// Retention of episodes, except failures without a later success of their task.
    pub episodes_days: u32,
    /// Retention of artifacts.
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

/// Amount of conversation history in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistorySettings {
    /// Number of interactions in full; older ones are summarised.
    pub live_interactions: usize,
    /// Token budget of its turns; 0 = unlimited.
    pub budget_tokens: usize,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            live_interactions: limits::HISTORY_LIVE_DEFAULT,
            budget_tokens: limits::HISTORY_BUDGET_TOKENS_DEFAULT,
        }
    }
}

/// User-defined redaction rules as plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactSettings {
    /// Pairs of kind (as shown in the mark) and regular expression: group 1 is the secret, else the whole match.
    pub rules: Vec<(String, String)>,
    /// Allow list: values that one of these regular expressions matches completely are not redacted.
    pub allow: Vec<String>,
}

/// Settings of the run loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Iterations of one `run`.
    pub iterations: u32,
    /// Consecutive identical failures after which the run stops.
    pub stall_limit: u32,
    /// Timeout of one iteration, seconds.
    pub timeout_s: u64,
    /// True if prompts explain how to write memory signals.
    pub includes_signal_guide: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            mirror_path: ".heirloom/memory.json".to_owned(),
            max_entries: limits::MIRROR_ENTRIES_DEFAULT,
            conflict_policy: ConflictPolicy::default(),
            context_budget: Budget::Chars(limits::CONTEXT_BUDGET_CHARS_DEFAULT),
            has_own_budget: false,
            context_selection: ContextSelection::default(),
            standing_chars: limits::STANDING_CHARS_DEFAULT,
            sources: SourceRow::default_rows(),
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
            learns: true,
            home: None,
        }
    }
}

/// Defaults of an engine without a configuration; a test of `config/layers/settings.rs` compares them with
/// `defaults.toml`.
impl Default for RunSettings {
    fn default() -> Self {
        Self {
            iterations: 10,
            stall_limit: 3,
            timeout_s: 3_600,
            includes_signal_guide: true,
        }
    }
}

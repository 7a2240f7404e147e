//! Data of commands: purposes, script runners, trackers.

use serde::Deserialize;

/// Contents of `data/commands.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommandCues {
    /// Worth of command records.
    pub(crate) worth: CommandWorth,
    /// Purposes in order.
    pub(crate) purpose: Vec<CommandPurpose>,
    /// Runners of named scripts.
    pub(crate) scripts: ScriptCues,
    /// Options with a value that does not change the purpose.
    pub(crate) value_options: Vec<String>,
    /// Options that narrow a command to a part or only change its output.
    pub(crate) narrow_options: Vec<String>,
    /// Issue trackers.
    pub(crate) tracker: TrackerCues,
}

/// Worth of command records, by evidence.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommandWorth {
    /// Checks before commits.
    pub(crate) checks: f32,
    /// A command that succeeded repeatedly.
    pub(crate) repeated: f32,
    /// A command with a slow first run.
    pub(crate) slow_first_run: f32,
    /// Code generation or a migration.
    pub(crate) generation: f32,
    /// Subcommands of a tracker.
    pub(crate) tracker: f32,
}

/// Purpose of a command.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommandPurpose {
    /// Name, part of the record key.
    pub(crate) name: String,
    /// Beginning of the record's text.
    pub(crate) label: String,
    /// True if the command checks the project's quality.
    #[serde(default)]
    pub(crate) is_check: bool,
    /// Patterns: words in their order.
    pub(crate) patterns: Vec<String>,
}

/// Runners of named scripts.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ScriptCues {
    /// Words before a script's name.
    pub(crate) runners: Vec<String>,
    /// Beginnings of paths of scripts.
    pub(crate) script_paths: Vec<String>,
    /// Words of a script's name with their purpose.
    pub(crate) words: Vec<(String, String)>,
    /// Subcommands of runners that are no script.
    pub(crate) not_scripts: Vec<String>,
}

/// Issue trackers.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TrackerCues {
    /// Programs, with their subcommand if they have other purposes too.
    pub(crate) programs: Vec<String>,
    /// Options that are part of the workflow.
    pub(crate) options: Vec<String>,
}

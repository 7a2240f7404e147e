//! Settings of Codex CLI.

use super::config_toml;
use crate::settings::{HookEntries, OtherSettingsFile, SettingsFormat};
use crate::{AgentProgram, ProgramFolder};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: ProgramFolder {
        variable: Some("CODEX_HOME"),
        below_home: ".codex",
        inside: "",
    },
    project_folder: ".codex",
    file: "hooks.json",
    editor: &HookEntries {
        program: AgentProgram::Codex,
        allows_jsonc: false,
        names_hooks: false,
    },
    other_file: Some(OtherSettingsFile {
        // Use one format per layer: Codex warns if hooks are in both config.toml and hooks.json.
        file: "config.toml",
        has_hooks: config_toml::has_hooks,
        editor: &config_toml::ConfigToml,
    }),
    more_files: &[],
    shares_hooks_with: None,
    notes: &[
        "Codex runs new and changed hooks only when you have accepted them: type /hooks in Codex, review them, accept",
    ],
    project_notes: &["Codex reads a project's hooks only in projects that you trust"],
};

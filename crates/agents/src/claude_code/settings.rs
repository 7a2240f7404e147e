//! Settings of Claude Code.

use crate::settings::{HookEntries, SettingsFormat};
use crate::{AgentProgram, ProgramFolder};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: ProgramFolder {
        variable: Some("CLAUDE_CONFIG_DIR"),
        below_home: ".claude",
        inside: "",
    },
    project_folder: ".claude",
    file: "settings.json",
    editor: &HookEntries {
        program: AgentProgram::ClaudeCode,
        allows_jsonc: false,
        names_hooks: false,
    },
    other_file: None,
    more_files: &[],
    shares_hooks_with: None,
    notes: &["Claude Code: running sessions continue without the hooks; new ones have them"],
    project_notes: &[],
};

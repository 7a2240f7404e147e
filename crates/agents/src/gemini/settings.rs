//! Settings of Gemini CLI.

use crate::settings::{HookEntries, SettingsFormat};
use crate::{AgentProgram, ProgramFolder};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: ProgramFolder {
        variable: None,
        below_home: ".gemini",
        inside: "",
    },
    project_folder: ".gemini",
    file: "settings.json",
    editor: &HookEntries {
        program: AgentProgram::Gemini,
        allows_jsonc: true,
        names_hooks: true,
    },
    other_file: None,
    more_files: &[],
    shares_hooks_with: None,
    notes: &["Gemini CLI: running sessions continue without the hooks; new ones have them"],
    project_notes: &[
        "Gemini CLI warns everyone about a project's hooks, and runs them only in trusted folders",
    ],
};

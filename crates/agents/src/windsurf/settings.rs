//! Settings of Windsurf.

use crate::hooks::HookSpec;
use crate::settings::{
    AddedFile, InstructionFile, JsonEntries, OwnEntry, SettingsFormat, SettingsPart,
    mcp_server_entries,
};
use crate::{AgentProgram, ProgramFolder};

/// Folder of a person's settings.
const FOLDER: ProgramFolder = ProgramFolder {
    variable: None,
    below_home: ".codeium/windsurf",
    inside: "",
};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: FOLDER,
    project_folder: ".windsurf",
    file: "hooks.json",
    editor: &JsonEntries {
        program: AgentProgram::Windsurf,
        empty_file: "{}\n",
        allows_jsonc: false,
        entries: |program| {
            let entry = |spec: &HookSpec| OwnEntry::hook(program, spec.event, &[]);
            program.hook_specs().iter().map(entry).collect()
        },
    },
    other_file: None,
    more_files: &[
        AddedFile {
            part: SettingsPart::McpServer,
            user_file: Some((FOLDER, "mcp_config.json")),
            project_file: None,
            other_name: None,
            editor: &JsonEntries {
                program: AgentProgram::Windsurf,
                empty_file: "{}\n",
                allows_jsonc: false,
                entries: mcp_server_entries,
            },
        },
        AddedFile {
            part: SettingsPart::Instructions,
            user_file: None,
            project_file: Some(".windsurf/rules/heirloom.md"),
            other_name: None,
            editor: &InstructionFile {
                front_matter: "---\ntrigger: always_on\n---\n\n",
            },
        },
    ],
    shares_hooks_with: None,
    notes: &[
        "Windsurf: no hook can give its agent a context; the rules file of `--scope project` tells it to ask for one",
        "Windsurf: press refresh in the list of MCP servers, or restart it",
    ],
    project_notes: &[
        "Windsurf reads MCP servers only from your own settings: run `heirloom install windsurf` too",
    ],
};

//! Settings of GitHub Copilot CLI.

use crate::settings::{AddedFile, JsonEntries, OwnEntry, SettingsFormat, SettingsPart};
use crate::{AgentProgram, ProgramFolder};

/// Folder of a person's settings.
const FOLDER: ProgramFolder = ProgramFolder {
    variable: Some("COPILOT_HOME"),
    below_home: ".copilot",
    inside: "",
};

/// Settings into which hooks are installed: a file of our own, because the program reads each in its folder.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: FOLDER,
    project_folder: ".github",
    file: HOOK_FILE,
    editor: &HOOK_ENTRIES,
    other_file: None,
    more_files: &[AddedFile {
        part: SettingsPart::McpServer,
        user_file: Some((FOLDER, "mcp-config.json")),
        project_file: Some(".github/mcp.json"),
        other_name: None,
        editor: &JsonEntries {
            program: AgentProgram::Copilot,
            empty_file: "{}\n",
            allows_jsonc: false,
            entries: |_| {
                vec![OwnEntry::server(
                    "mcpServers",
                    &[
                        ("type", "\"local\""),
                        ("command", "\"heirloom\""),
                        ("args", "[\"mcp\"]"),
                        ("tools", "[\"*\"]"),
                    ],
                )]
            },
        },
    }],
    shares_hooks_with: Some(AgentProgram::Vscode),
    notes: &["Copilot CLI: running sessions continue without the hooks; new ones have them"],
    project_notes: &[
        "Copilot CLI reads a project's hooks and servers only in folders that you trust",
    ],
};

/// File with the hooks, below the folders of settings.
pub(crate) const HOOK_FILE: &str = "hooks/heirloom.json";

/// Entries of the hooks. Visual Studio Code needs `type` and `command`, Copilot CLI the version of the file.
pub(crate) const HOOK_ENTRIES: JsonEntries = JsonEntries {
    program: AgentProgram::Copilot,
    empty_file: "{\n  \"version\": 1\n}\n",
    allows_jsonc: false,
    entries: |program| {
        let specs = program.hook_specs().iter();
        let entry = |spec: &crate::hooks::HookSpec| {
            let timeout = spec.timeout.to_string();
            let members = [("type", "\"command\""), ("timeout", timeout.as_str())];
            OwnEntry::hook(program, spec.event, &members)
        };
        specs.map(entry).collect()
    },
};

//! Settings of Visual Studio Code: the MCP server, instructions, and the hooks that it reads with Copilot CLI.

use crate::copilot::settings::{HOOK_ENTRIES, HOOK_FILE};
use crate::settings::{
    AddedFile, InstructionFile, JsonEntries, OwnEntry, SettingsFormat, SettingsPart,
};
use crate::{AgentProgram, ProgramFolder};

/// Folder of a person's profile.
const PROFILE: ProgramFolder = if cfg!(target_os = "macos") {
    ProgramFolder {
        variable: None,
        below_home: "Library/Application Support",
        inside: "Code/User",
    }
} else if cfg!(windows) {
    ProgramFolder {
        variable: Some("APPDATA"),
        below_home: "AppData/Roaming",
        inside: "Code/User",
    }
} else {
    ProgramFolder {
        variable: Some("XDG_CONFIG_HOME"),
        below_home: ".config",
        inside: "Code/User",
    }
};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: ProgramFolder {
        variable: None,
        below_home: ".copilot",
        inside: "",
    },
    project_folder: ".github",
    file: HOOK_FILE,
    editor: &HOOK_ENTRIES,
    other_file: None,
    more_files: &[
        AddedFile {
            part: SettingsPart::McpServer,
            user_file: Some((PROFILE, "mcp.json")),
            project_file: Some(".vscode/mcp.json"),
            other_name: None,
            editor: &JsonEntries {
                program: AgentProgram::Vscode,
                empty_file: "{}\n",
                allows_jsonc: true,
                entries: |_| {
                    vec![OwnEntry::server(
                        "servers",
                        &[
                            ("type", "\"stdio\""),
                            ("command", "\"heirloom\""),
                            ("args", "[\"mcp\"]"),
                        ],
                    )]
                },
            },
        },
        AddedFile {
            part: SettingsPart::Instructions,
            user_file: None,
            project_file: Some(".github/instructions/heirloom.instructions.md"),
            other_name: None,
            editor: &InstructionFile {
                front_matter: "---\nname: Heirloom\ndescription: Memory of the project\napplyTo: \"**\"\n---\n\n",
            },
        },
    ],
    shares_hooks_with: Some(AgentProgram::Copilot),
    notes: &[
        "VS Code asks whether to trust the MCP server when it starts it first; Copilot CLI reads the same hooks",
        "VS Code hooks are a preview, which an organisation can switch off; the MCP server works without them",
    ],
    project_notes: &[],
};

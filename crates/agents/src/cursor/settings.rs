//! Settings of Cursor.

use crate::hooks::HookSpec;
use crate::settings::{
    AddedFile, InstructionFile, JsonEntries, OwnEntry, SettingsFormat, SettingsPart,
};
use crate::{AgentProgram, ProgramFolder};

/// Folder of a person's settings.
const FOLDER: ProgramFolder = ProgramFolder {
    variable: None,
    below_home: ".cursor",
    inside: "",
};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: FOLDER,
    project_folder: ".cursor",
    file: "hooks.json",
    editor: &JsonEntries {
        program: AgentProgram::Cursor,
        empty_file: "{\n  \"version\": 1\n}\n",
        allows_jsonc: false,
        entries: |program| {
            let entry = |spec: &HookSpec| {
                let timeout = spec.timeout.to_string();
                OwnEntry::hook(program, spec.event, &[("timeout", timeout.as_str())])
            };
            program.hook_specs().iter().map(entry).collect()
        },
    },
    other_file: None,
    more_files: &[
        AddedFile {
            part: SettingsPart::McpServer,
            user_file: Some((FOLDER, "mcp.json")),
            project_file: Some(".cursor/mcp.json"),
            other_name: None,
            editor: &JsonEntries {
                program: AgentProgram::Cursor,
                empty_file: "{}\n",
                allows_jsonc: false,
                entries: |_| {
                    vec![OwnEntry::server(
                        "mcpServers",
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
            project_file: Some(".cursor/rules/heirloom.mdc"),
            other_name: None,
            editor: &InstructionFile {
                front_matter: "---\ndescription: Memory of the project\nalwaysApply: true\n---\n\n",
            },
        },
    ],
    shares_hooks_with: None,
    notes: &[
        "Cursor: restart it, or open a new chat, so that it reads the hooks and the MCP server",
    ],
    project_notes: &["Cursor runs a project's hooks only in workspaces that you trust"],
};

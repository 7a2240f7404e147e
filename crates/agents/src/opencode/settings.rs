//! Settings of opencode: a plugin file that calls the hooks.

use crate::settings::{
    AddedFile, JsonEntries, OwnEntry, SettingsEditor, SettingsError, SettingsFormat, SettingsPart,
};
use crate::{AgentProgram, ProgramFolder};

/// The plugin.
const PLUGIN: &str = include_str!("plugin.js");
/// Beginning of the plugin of any version.
const PLUGIN_START: &str = "// Heirloom plugin for opencode";

/// Folder of a person's settings.
const FOLDER: ProgramFolder = ProgramFolder {
    variable: Some("XDG_CONFIG_HOME"),
    below_home: ".config",
    inside: "opencode",
};

/// Settings into which hooks are installed.
pub(crate) const SETTINGS: SettingsFormat = SettingsFormat {
    user_folder: FOLDER,
    project_folder: ".opencode",
    file: "plugins/heirloom.js",
    editor: &PluginFile,
    other_file: None,
    more_files: &[AddedFile {
        part: SettingsPart::McpServer,
        user_file: Some((FOLDER, "opencode.json")),
        project_file: Some("opencode.json"),
        other_name: Some("opencode.jsonc"),
        editor: &JsonEntries {
            program: AgentProgram::Opencode,
            empty_file: "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
            allows_jsonc: true,
            entries: |_| {
                vec![OwnEntry::server(
                    "mcp",
                    &[
                        ("type", "\"local\""),
                        ("command", "[\"heirloom\", \"mcp\"]"),
                        ("enabled", "true"),
                    ],
                )]
            },
        },
    }],
    shares_hooks_with: None,
    notes: &["opencode: running sessions continue without the plugin; new ones load it"],
    project_notes: &["opencode loads a project's plugins for everyone without a question"],
};

/// Editor of the plugin file, which has no content of others.
struct PluginFile;

fn is_plugin(text: &str) -> bool {
    text.starts_with(PLUGIN_START)
}

impl SettingsEditor for PluginFile {
    fn add(&self, text: &str) -> Result<String, SettingsError> {
        if text.trim().is_empty() || is_plugin(text) {
            return Ok(PLUGIN.to_owned());
        }
        Err(SettingsError {
            line: 1,
            message: "another plugin has this name: rename its file".to_owned(),
        })
    }

    fn remove(&self, text: &str, _original: Option<&str>) -> Result<String, SettingsError> {
        Ok(if is_plugin(text) { "" } else { text }.to_owned())
    }

    fn installed_events(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let specs = AgentProgram::Opencode.hook_specs();
        let is_current = text == PLUGIN;
        let events = specs.iter().filter(|_| is_current).map(|spec| spec.event);
        Ok(events.collect())
    }

    fn is_empty(&self, text: &str) -> bool {
        text.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_is_added_updated_and_removed_as_a_whole() {
        let file = PluginFile;
        assert_eq!(file.add("").unwrap(), PLUGIN);
        let older = format!("{PLUGIN_START}, version 0\nexport const Heirloom = 1;\n");
        assert!(file.installed_events(&older).unwrap().is_empty());
        assert_eq!(file.add(&older).unwrap(), PLUGIN);
        let all = AgentProgram::Opencode.hook_specs().len();
        assert_eq!(file.installed_events(PLUGIN).unwrap().len(), all);
        assert!(file.is_empty(&file.remove(&older, None).unwrap()));
        let foreign = "export const Mine = async () => ({});\n";
        assert!(file.add(foreign).is_err());
        assert_eq!(file.remove(foreign, None).unwrap(), foreign);
    }

    #[test]
    fn plugin_copies_conversations_to_the_removed_folders() {
        let format = AgentProgram::Opencode.transcripts().unwrap();
        let prefix = format.copy_folder_prefix.unwrap();
        assert!(PLUGIN.contains(&format!("COPY_FOLDER_PREFIX = \"{prefix}\"")));
        let folder = format.folders[0];
        assert!(PLUGIN.contains(&format!("\"{}\"", folder.inside)));
        assert!(PLUGIN.contains(&format!("\"{}\"", folder.below_home)));
        assert!(PLUGIN.contains(folder.variable.unwrap()));
    }

    #[test]
    fn plugin_calls_every_subscribed_event_with_the_installed_command() {
        for spec in AgentProgram::Opencode.hook_specs() {
            let event = format!("\"{}\"", spec.event);
            assert!(
                PLUGIN.contains(&event) || spec.event == "dispose",
                "{event}"
            );
            let command = AgentProgram::Opencode.hook_command("EVENT");
            let inner = command.strip_prefix("/bin/sh -c '").unwrap();
            let inner = inner.strip_suffix('\'').unwrap();
            assert!(PLUGIN.contains(inner), "{inner}");
        }
    }
}

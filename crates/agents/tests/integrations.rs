//! Files of the Claude Code plugin and the Gemini extension: their hooks are those that an installation writes.
#![expect(
    clippy::disallowed_methods,
    reason = "files of the repository, written by an ignored test"
)]

use heirloom_agents::AgentProgram;
use heirloom_agents::settings::add_hook_entries;
use serde_json::Value;
use std::path::PathBuf;

/// The programs with their folders in `integrations/`.
const INTEGRATIONS: [(AgentProgram, &str); 2] = [
    (AgentProgram::ClaudeCode, "claude-code"),
    (AgentProgram::Gemini, "gemini"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn integration_file(folder: &str, name: &str) -> PathBuf {
    root().join("integrations").join(folder).join(name)
}

fn read_json(path: &PathBuf) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Returns the hooks of an installation with the commands of a plugin.
fn plugin_hooks(program: AgentProgram) -> String {
    let mut text = add_hook_entries(program, "").unwrap_or_else(|error| panic!("{error}"));
    for spec in program.hook_specs() {
        let installed = Value::from(program.hook_command(spec.event)).to_string();
        let own = Value::from(program.plugin_hook_command(spec.event)).to_string();
        assert_eq!(text.matches(&installed).count(), 1, "{installed}");
        text = text.replace(&installed, &own);
    }
    text
}

#[test]
fn hooks_of_plugins_are_those_of_an_installation() {
    for (program, folder) in INTEGRATIONS {
        let path = integration_file(folder, "hooks/hooks.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let remedy =
            "write it: cargo nextest run -p heirloom-agents --run-ignored only write_plugin_hooks";
        assert_eq!(text, plugin_hooks(program), "{path:?}: {remedy}");
    }
}

#[test]
#[ignore = "writes the files"]
fn write_plugin_hooks() {
    for (program, folder) in INTEGRATIONS {
        std::fs::write(
            integration_file(folder, "hooks/hooks.json"),
            plugin_hooks(program),
        )
        .unwrap();
    }
}

#[test]
fn manifests_have_the_version_and_the_server() {
    let version = env!("CARGO_PKG_VERSION");
    let plugin = read_json(&integration_file(
        "claude-code",
        ".claude-plugin/plugin.json",
    ));
    let extension = read_json(&integration_file("gemini", "gemini-extension.json"));
    let servers = read_json(&integration_file("claude-code", ".mcp.json"));
    for manifest in [&plugin, &extension] {
        assert_eq!(manifest["name"], "heirloom");
        assert_eq!(manifest["version"], version);
    }
    let server = serde_json::json!({"command": "heirloom", "args": ["mcp"]});
    for owner in [&servers, &extension] {
        assert_eq!(owner["mcpServers"]["heirloom"], server);
    }
    let marketplace = read_json(&root().join(".claude-plugin/marketplace.json"));
    let source = marketplace["plugins"][0]["source"].as_str().unwrap();
    assert!(
        root()
            .join(source)
            .join(".claude-plugin/plugin.json")
            .is_file()
    );
}

#[test]
fn instructions_of_both_programs_are_equal() {
    let skill =
        std::fs::read_to_string(integration_file("claude-code", "skills/heirloom/SKILL.md"));
    let skill = skill.unwrap();
    let body = skill.splitn(3, "---\n").nth(2).unwrap().trim_start();
    let context = std::fs::read_to_string(integration_file("gemini", "HEIRLOOM.md")).unwrap();
    assert_eq!(body, context);
}

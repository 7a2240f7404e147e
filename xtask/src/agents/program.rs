//! Agent programs: package sources, versions, command lines and the settings that point them at a local model.

use std::path::{Path, PathBuf};

use heirloom_testkit::ModelService;
use serde_json::{Value, json};

use super::plugins::PluginCommands;

/// Package source of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// An npm package, installed without its scripts; then one script of the
    /// package is run by name, if it needs one.
    Npm { after: Option<&'static str> },
    /// A Python package, in a virtual environment.
    Python,
}

/// One agent program at one version.
#[derive(Debug)]
pub(crate) struct Program {
    /// The adapter's name, as in `heirloom run --agent NAME`.
    pub(crate) name: &'static str,
    /// The package.
    pub(crate) package: &'static str,
    /// The pinned version.
    pub(crate) version: &'static str,
    /// Package source.
    pub(crate) source: Source,
    /// The program below its folder.
    pub(crate) binary: &'static str,
    /// The user's command line without the program; `PROMPT` is replaced by
    /// the prompt.
    pub(crate) arguments: &'static [&'static str],
    /// Arguments that Heirloom's adapter adds, for runs without Heirloom.
    pub(crate) stream_arguments: &'static [&'static str],
    /// The tool that makes it read `notes.txt`; none if it has no tools.
    pub(crate) read_tool: Option<(&'static str, &'static str)>,
    /// True if `heirloom install` supports its hooks.
    pub(crate) has_hooks: bool,
    /// True if a hook can ask the agent for a lesson at the end of a turn.
    pub(crate) can_ask_agent: bool,
    /// Type of its subagents, if it has any.
    pub(crate) subagents: Option<&'static str>,
    /// Its name for `heirloom import`.
    pub(crate) import: &'static str,
    /// Arguments that print the conversation of the session named after them, if conversations are in no files.
    pub(crate) export: Option<&'static [&'static str]>,
    /// Folder below the home folder in which hooks copy conversations while they read them.
    pub(crate) copies: Option<&'static str>,
    /// Arguments that create its database, if the first starts in a home folder cannot be concurrent.
    pub(crate) preparation: Option<&'static [&'static str]>,
    /// Arguments that accept new hooks without a person.
    pub(crate) trust_arguments: &'static [&'static str],
    /// True if it is driven as an MCP client.
    pub(crate) has_mcp: bool,
    /// Arguments that add the MCP server, unless `heirloom install` does.
    pub(crate) mcp_add: &'static [&'static str],
    /// Arguments that list the MCP servers; empty if `heirloom install` adds none.
    pub(crate) mcp_list: &'static [&'static str],
    /// Arguments that permit calls of our tools without a person.
    pub(crate) mcp_arguments: &'static [&'static str],
    /// Commands that install our plugin or extension, if the program has such.
    pub(crate) plugin: Option<PluginCommands>,
}

/// The user's prompt.
pub(crate) const PROMPT: &str = "Fix the login";

/// The programs, in the order of the table.
pub(crate) const PROGRAMS: &[Program] = &[
    // The package is a wrapper; `install.cjs` replaces it by the real program.
    Program {
        name: "claude-code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.197",
        source: Source::Npm {
            after: Some("install.cjs"),
        },
        binary: "node_modules/.bin/claude",
        arguments: &["-p", "PROMPT", "--allowedTools", "Bash"],
        stream_arguments: &["--output-format", "stream-json", "--verbose"],
        read_tool: Some(("Bash", r#"{"command": "cat notes.txt"}"#)),
        has_hooks: true,
        can_ask_agent: true,
        subagents: Some("general-purpose"),
        import: "claude",
        export: None,
        copies: None,
        preparation: None,
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "--", "heirloom", "mcp"],
        mcp_list: &[],
        mcp_arguments: &["--allowedTools", "mcp__heirloom"],
        plugin: Some(PluginCommands {
            install: &[
                &["plugin", "validate", "--strict", "ROOT"],
                &[
                    "plugin",
                    "validate",
                    "--strict",
                    "ROOT/integrations/claude-code",
                ],
                &["plugin", "marketplace", "add", "ROOT"],
                &["plugin", "install", "heirloom@heirloom"],
            ],
            remove: &["plugin", "uninstall", "heirloom@heirloom"],
        }),
    },
    // Its shell tool is `exec_command`, with `cmd`; the sandbox lets it read.
    Program {
        name: "codex",
        package: "@openai/codex",
        version: "0.171.0",
        source: Source::Npm { after: None },
        binary: "node_modules/.bin/codex",
        arguments: &["exec", "--skip-git-repo-check", "PROMPT"],
        stream_arguments: &["--json"],
        read_tool: Some(("exec_command", r#"{"cmd": "cat notes.txt"}"#)),
        has_hooks: true,
        can_ask_agent: true,
        subagents: Some("default"),
        import: "codex",
        export: None,
        copies: None,
        preparation: None,
        trust_arguments: &["--dangerously-bypass-hook-trust"],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "--", "heirloom", "mcp"],
        mcp_list: &[],
        mcp_arguments: &["--dangerously-bypass-approvals-and-sandbox"],
        plugin: None,
    },
    // Without a named model a router selects one with another request. Without
    // a person it offers its shell only when everything is approved beforehand;
    // `read_file` would do, but its output does not show in the stream.
    Program {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        source: Source::Npm { after: None },
        binary: "node_modules/.bin/gemini",
        arguments: &[
            "--skip-trust",
            "--approval-mode",
            "yolo",
            "-m",
            "gemini-2.5-flash",
            "-p",
            "PROMPT",
        ],
        stream_arguments: &["--output-format", "stream-json"],
        read_tool: Some(("run_shell_command", r#"{"command": "cat notes.txt"}"#)),
        has_hooks: true,
        can_ask_agent: false,
        subagents: None,
        import: "gemini",
        export: None,
        copies: None,
        preparation: None,
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "heirloom", "mcp"],
        mcp_list: &[],
        mcp_arguments: &[],
        plugin: Some(PluginCommands {
            install: &[
                &["extensions", "validate", "ROOT/integrations/gemini"],
                &[
                    "extensions",
                    "install",
                    "ROOT/integrations/gemini",
                    "--consent",
                ],
            ],
            remove: &["extensions", "uninstall", "heirloom"],
        }),
    },
    // Plugins wait for an npm installation in their folder, which is refused at once when npm is offline.
    Program {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        source: Source::Npm {
            after: Some("postinstall.mjs"),
        },
        binary: "node_modules/.bin/opencode",
        arguments: &["run", "PROMPT"],
        stream_arguments: &["--format", "json"],
        read_tool: Some((
            "bash",
            r#"{"command": "cat notes.txt", "description": "Show the notes"}"#,
        )),
        has_hooks: true,
        can_ask_agent: false,
        subagents: Some("general"),
        import: "opencode",
        export: Some(&["export"]),
        copies: Some(".local/share/opencode/heirloom"),
        preparation: Some(&["session", "list"]),
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &[],
        mcp_list: &["mcp", "list"],
        mcp_arguments: &[],
        plugin: None,
    },
    // Its shell tool names a description; without `--allow-all-tools` it waits for a person.
    Program {
        name: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        source: Source::Npm { after: None },
        binary: "node_modules/.bin/copilot",
        arguments: &["-p", "PROMPT", "--allow-all-tools"],
        stream_arguments: &["--output-format", "json"],
        read_tool: Some((
            "bash",
            r#"{"command": "cat notes.txt", "description": "Show the notes"}"#,
        )),
        has_hooks: true,
        can_ask_agent: true,
        subagents: None,
        import: "copilot",
        export: None,
        copies: None,
        preparation: None,
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &[],
        mcp_list: &["mcp", "list"],
        mcp_arguments: &[],
        plugin: None,
    },
    // It has no tools: the file goes into the prompt. Without `--no-pretty` it
    // renders Markdown and wraps lines at 80 columns even into a pipe, and
    // `--no-stream` wraps them in any case.
    Program {
        name: "aider",
        package: "aider-chat",
        version: "0.86.2",
        source: Source::Python,
        binary: "bin/aider",
        arguments: &[
            "--model",
            "openai/scripted",
            "--read",
            "notes.txt",
            "--yes-always",
            "--no-check-update",
            "--analytics-disable",
            "--no-show-model-warnings",
            "--message",
            "PROMPT",
        ],
        stream_arguments: &["--no-pretty", "--stream"],
        read_tool: None,
        has_hooks: false,
        can_ask_agent: false,
        subagents: None,
        import: "aider",
        export: None,
        copies: None,
        preparation: None,
        trust_arguments: &[],
        has_mcp: false,
        mcp_add: &[],
        mcp_list: &[],
        mcp_arguments: &[],
        plugin: None,
    },
];

impl Program {
    /// The user's command line with its prompt.
    pub(crate) fn command_line(&self, folder: &Path) -> Vec<String> {
        let program = folder.join(self.binary).display().to_string();
        let arguments = self.arguments.iter().map(|argument| match *argument {
            "PROMPT" => PROMPT.to_owned(),
            other => other.to_owned(),
        });
        std::iter::once(program).chain(arguments).collect()
    }

    /// The environment that points it at the service, besides `HOME`, `PATH`
    /// and the closed proxy.
    pub(crate) fn environment(&self, service: &ModelService, home: &Path) -> Vec<(String, String)> {
        let home = |name: &str| home.join(name).display().to_string();
        let pairs = match self.name {
            "claude-code" => vec![
                ("ANTHROPIC_BASE_URL", service.base_url()),
                ("ANTHROPIC_API_KEY", "any".into()),
                ("CLAUDE_CONFIG_DIR", home(".claude")),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ],
            // Not below the system's temp folder: it refuses such a home.
            "codex" => vec![
                ("CODEX_HOME", home(".codex")),
                ("LOCAL_API_KEY", "any".into()),
            ],
            "gemini" => vec![
                ("GEMINI_API_KEY", "any".into()),
                ("GOOGLE_GEMINI_BASE_URL", service.base_url()),
                // MCP servers start only in trusted folders, and `--skip-trust` applies too late.
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
            ],
            "opencode" => vec![
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
                ("npm_config_offline", "true".into()),
            ],
            "copilot" => vec![
                ("COPILOT_OFFLINE", "true".into()),
                ("COPILOT_PROVIDER_BASE_URL", service.openai_base_url()),
                ("COPILOT_PROVIDER_API_KEY", "any".into()),
                ("COPILOT_MODEL", "scripted".into()),
                ("COPILOT_AUTO_UPDATE", "false".into()),
            ],
            _ => vec![
                ("OPENAI_API_BASE", service.openai_base_url()),
                ("OPENAI_API_KEY", "any".into()),
                ("LITELLM_LOCAL_MODEL_COST_MAP", "True".into()),
            ],
        };
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Files that its home folder must contain: path and content.
    pub(crate) fn home_files(&self, service: &ModelService) -> Vec<(PathBuf, String)> {
        match self.name {
            "claude-code" => vec![(".claude/settings.json".into(), "{}".into())],
            "codex" => vec![(".codex/config.toml".into(), codex_config(service))],
            "gemini" => {
                let auth = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
                vec![(".gemini/settings.json".into(), auth.to_string())]
            }
            "opencode" => vec![(
                ".config/opencode/opencode.json".into(),
                opencode_config(service),
            )],
            "copilot" => vec![(".copilot/settings.json".into(), "{}".into())],
            // A non-empty price list less than a day old is not fetched.
            _ => vec![(
                ".aider/caches/model_prices_and_context_window.json".into(),
                json!({"openai/scripted": {"max_input_tokens": 100_000}}).to_string(),
            )],
        }
    }

    /// The arguments of [`Program::read_tool`].
    pub(crate) fn read_call(&self) -> Option<(&'static str, Value)> {
        let (name, input) = self.read_tool?;
        Some((name, serde_json::from_str(input).unwrap_or(Value::Null)))
    }
}

fn opencode_config(service: &ModelService) -> String {
    let models = json!({"scripted": {"name": "Scripted"}});
    let options = json!({"baseURL": service.openai_base_url(), "apiKey": "any"});
    let local = json!({"npm": "@ai-sdk/openai-compatible", "options": options, "models": models});
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "local/scripted",
        "provider": {"local": local},
    })
    .to_string()
}

fn codex_config(service: &ModelService) -> String {
    format!(
        "model = \"scripted\"\n\
         model_provider = \"local\"\n\
         \n\
         [model_providers.local]\n\
         name = \"local\"\n\
         base_url = \"{}\"\n\
         env_key = \"LOCAL_API_KEY\"\n\
         wire_api = \"responses\"\n",
        service.openai_base_url()
    )
}

//! The programs: where they come from, and how each is pointed at a local model.

use std::path::{Path, PathBuf};

use heirloom_testkit::ModelService;
use serde_json::{Value, json};

/// Where a program is installed from.
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
    /// Where it comes from.
    pub(crate) source: Source,
    /// The program below its folder.
    pub(crate) binary: &'static str,
    /// The user's own command line, without the program; `PROMPT` stands for
    /// the prompt.
    pub(crate) arguments: &'static [&'static str],
    /// What Heirloom's adapter adds: for runs without Heirloom.
    pub(crate) stream_arguments: &'static [&'static str],
    /// The tool that makes it read `notes.txt`; none if it has no tools.
    pub(crate) read_tool: Option<(&'static str, &'static str)>,
    /// Whether it has hooks that `heirloom install` knows.
    pub(crate) has_hooks: bool,
    /// What sort its subagents are, where it has some.
    pub(crate) subagents: Option<&'static str>,
    /// Its name for `heirloom import`.
    pub(crate) import: &'static str,
    /// What stands for the person who accepts new hooks.
    pub(crate) trust_arguments: &'static [&'static str],
    /// Whether it is driven as a client of MCP.
    pub(crate) has_mcp: bool,
    /// How its person adds the server.
    pub(crate) mcp_add: &'static [&'static str],
    /// What stands for the person who lets it call our tools.
    pub(crate) mcp_arguments: &'static [&'static str],
}

/// The user's prompt.
pub(crate) const PROMPT: &str = "Fix the login";

/// The programs, in the order of the table.
pub(crate) const PROGRAMS: &[Program] = &[
    // The package is a wrapper; `install.cjs` puts the real program in its place.
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
        subagents: Some("general-purpose"),
        import: "claude",
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "--", "heirloom", "mcp"],
        mcp_arguments: &["--allowedTools", "mcp__heirloom"],
    },
    // Its shell tool is `exec_command`, with `cmd`; the sandbox lets it read.
    Program {
        name: "codex",
        package: "@openai/codex",
        version: "0.169.0",
        source: Source::Npm { after: None },
        binary: "node_modules/.bin/codex",
        arguments: &["exec", "--skip-git-repo-check", "PROMPT"],
        stream_arguments: &["--json"],
        read_tool: Some(("exec_command", r#"{"cmd": "cat notes.txt"}"#)),
        has_hooks: true,
        subagents: Some("default"),
        import: "codex",
        trust_arguments: &["--dangerously-bypass-hook-trust"],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "--", "heirloom", "mcp"],
        mcp_arguments: &["--dangerously-bypass-approvals-and-sandbox"],
    },
    // Without a named model a router asks the model which model to ask. Without
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
        subagents: None,
        import: "gemini",
        trust_arguments: &[],
        has_mcp: true,
        mcp_add: &["mcp", "add", "heirloom", "heirloom", "mcp"],
        mcp_arguments: &[],
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
        subagents: None,
        import: "aider",
        trust_arguments: &[],
        has_mcp: false,
        mcp_add: &[],
        mcp_arguments: &[],
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
                // Servers of MCP are started in folders that their person trusts, and `--skip-trust` comes too late.
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
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

    /// The files that must stand in its home: path and content.
    pub(crate) fn home_files(&self, service: &ModelService) -> Vec<(PathBuf, String)> {
        match self.name {
            "claude-code" => vec![(".claude/settings.json".into(), "{}".into())],
            "codex" => vec![(".codex/config.toml".into(), codex_config(service))],
            "gemini" => {
                let auth = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
                vec![(".gemini/settings.json".into(), auth.to_string())]
            }
            // A filled price list that is less than a day old is not fetched.
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

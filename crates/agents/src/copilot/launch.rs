//! GitHub Copilot CLI: `copilot --output-format json`, with the prompt in standard input.
//!
//! Permissions (`--allow-all-tools`) are not added: they are the person's decision.

use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft};
use crate::adapters::{LaunchAdapter, PROMPT_PLACEHOLDER, PromptInput};
use crate::{AgentProgram, StreamFormat};
use heirloom_model::Fault;

/// Format of the event stream.
const EVENTS: StreamFormat = StreamFormat::Events(AgentProgram::Copilot);

/// Copilot CLI.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["copilot"],
    packages: &["@github/copilot"],
    format: EVENTS,
    instruction_files: &["AGENTS.md", ".github/copilot-instructions.md"],
};

/// The flags of Copilot CLI 1.0.102.
const FLAGS: FlagTable = FlagTable {
    switches: &[
        "-v",
        "--version",
        "-h",
        "--help",
        "--fleet",
        "--trust-folder",
        "-s",
        "--silent",
        "--disable-client-telemetry",
        "--enable-memory",
        "--continue",
        "--allow-all-tools",
        "--allow-all-paths",
        "--disallow-temp-dir",
        "--banner",
        "--screen-reader",
        "--plain-diff",
        "--share-gist",
        "--disable-builtin-mcps",
        "--enable-all-github-mcp-tools",
        "--allow-all-mcp-server-instructions",
        "--allow-all-urls",
        "--allow-all",
        "--yolo",
        "--autopilot",
        "--plan",
        "--experimental",
        "--acp",
        "--remote",
        "--remote-export",
        "--assisted-approval",
        "--no-custom-instructions",
        "--no-auto-update",
    ],
    values: &[
        "-p",
        "--prompt",
        "-i",
        "--interactive",
        "--model",
        "--reasoning-effort",
        "--context",
        "--auto-tier",
        "--agent",
        "-n",
        "--name",
        "--session-id",
        "-C",
        "--log-dir",
        "--extension-sdk-path",
        "--log-level",
        "--stream",
        "--output-format",
        "--add-dir",
        "--attachment",
        "--disable-mcp-server",
        "--add-github-mcp-toolset",
        "--add-github-mcp-tool",
        "--plugin-dir",
        "--additional-mcp-config",
        "--mcp-github-auth",
        "--max-autopilot-continues",
        "--mode",
        "--environment-host",
        "--environment-compute-id",
        "--dynamic-retrieval",
        "--enable-mcp-server",
        "--max-ai-credits",
        "--usage-output-file",
    ],
    optional_values: &[
        "-r",
        "--resume",
        "--connect",
        "--share",
        "--bash-env",
        "--mouse",
    ],
    multiple_values: &[
        "--allow-tool",
        "--deny-tool",
        "--available-tools",
        "--excluded-tools",
        "--secret-env-vars",
        "--allow-url",
        "--deny-url",
    ],
};

/// Subcommands that do not run a prompt.
const NON_AGENT_SUBCOMMANDS: &[&str] = &[
    "app",
    "login",
    "help",
    "init",
    "config",
    "update",
    "version",
    "workflow",
    "sessions",
    "memories",
    "plugin",
    "mcp",
    "skill",
    "instruction",
    "lsp",
    "sandbox",
    "completion",
];

const HINT: &str = "heirloom run -- copilot -p \"fix the tests\" --allow-all-tools";

/// Plans the command of one iteration. The person's prompt is the value of `-p`.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let items = FLAGS.parse(args);
    let first = items.iter().find(|item| item.is_word());
    let name = first.and_then(|item| item.value).unwrap_or_default();
    if NON_AGENT_SUBCOMMANDS.contains(&name) {
        let message = format!("`copilot {name}` does not run a prompt");
        return Err(Fault::usage(message).hint(HINT));
    }
    let waits = ["-i", "--interactive", "--acp", "--environment-host"];
    if let Some(item) = items.iter().find(|item| item.is_any_of(&waits)) {
        let message = format!("`copilot {}` waits for a person", item.flag);
        return Err(Fault::usage(message).hint(HINT));
    }
    let is_own = |item: &ArgumentItem<'_>| item.is_any_of(&["-p", "--prompt"]);
    let own = items.iter().rev().find(|item| is_own(item));
    let words = own.and_then(|item| item.value).unwrap_or_default();
    let keeps_user_prompt = has_placeholder && words != PROMPT_PLACEHOLDER;
    let prompt = input.prompt(if has_placeholder { "" } else { words });

    let mut planned = Vec::with_capacity(args.len() + 2);
    let mut format = EVENTS;
    match items
        .iter()
        .rev()
        .find(|item| item.flag == "--output-format")
    {
        None => planned.extend(["--output-format", "json"].map(Arg::text)),
        Some(item) if item.value == Some("json") => {}
        Some(_) => format = StreamFormat::Text,
    }
    for item in &items {
        if keeps_user_prompt || !is_own(item) {
            planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
        }
    }
    Ok(LaunchDraft {
        args: planned,
        uses_stdin: !keeps_user_prompt,
        prompt,
        format,
    })
}

//! opencode: `opencode run --format json`, with the prompt in standard input.
//!
//! Not as arguments: `opencode run` puts quotes around those with blanks.

use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft};
use crate::adapters::{LaunchAdapter, PromptInput};
use crate::{AgentProgram, StreamFormat};
use heirloom_model::Fault;

/// Format of the event stream.
const EVENTS: StreamFormat = StreamFormat::Events(AgentProgram::Opencode);

/// opencode.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["opencode"],
    packages: &["opencode-ai"],
    format: EVENTS,
    instruction_files: &["AGENTS.md"],
};

/// The flags of opencode 1.18, of the program and of `run`.
const FLAGS: FlagTable = FlagTable {
    switches: &[
        "--auto",
        "-c",
        "--continue",
        "--fork",
        "-h",
        "--help",
        "-i",
        "--interactive",
        "--mdns",
        "--mini",
        "--no-replay",
        "--print-logs",
        "--pure",
        "--share",
        "--thinking",
        "-v",
        "--version",
    ],
    values: &[
        "--agent",
        "--attach",
        "--command",
        "--dir",
        "--format",
        "--hostname",
        "--log-level",
        "--mdns-domain",
        "-m",
        "--model",
        "-p",
        "--password",
        "--port",
        "--replay-limit",
        "-s",
        "--session",
        "--title",
        "-u",
        "--username",
        "--variant",
    ],
    optional_values: &[],
    multiple_values: &["--cors", "-f", "--file"],
};

/// Subcommands that do not run a prompt.
const NON_AGENT_SUBCOMMANDS: &[&str] = &[
    "acp",
    "agent",
    "attach",
    "auth",
    "completion",
    "db",
    "debug",
    "export",
    "github",
    "import",
    "mcp",
    "models",
    "plug",
    "plugin",
    "pr",
    "providers",
    "serve",
    "session",
    "stats",
    "uninstall",
    "upgrade",
    "web",
];

const HINT: &str = "heirloom run -- opencode run \"fix the tests\"";

/// Plans the command of one iteration.
///
/// `run` is added if it is missing: the interactive program cannot run in a loop. The person's prompt is the words
/// after it.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let items = FLAGS.parse(args);
    let first = items.iter().find(|item| item.is_word());
    let name = first.and_then(|item| item.value).unwrap_or_default();
    if NON_AGENT_SUBCOMMANDS.contains(&name) {
        let message = format!("`opencode {name}` does not run a prompt");
        return Err(Fault::usage(message).hint(HINT));
    }
    if items
        .iter()
        .any(|item| item.is_any_of(&["-i", "--interactive", "--mini"]))
    {
        return Err(Fault::usage("`opencode --interactive` waits for a person").hint(HINT));
    }
    let run = first.filter(|_| name == "run").map(|item| item.at);
    let own: Vec<&ArgumentItem<'_>> = items
        .iter()
        .filter(|item| item.is_word() && item.is_certain && Some(item.at) != run)
        .collect();
    let words: Vec<&str> = own.iter().filter_map(|item| item.value).collect();
    let prompt = input.prompt(&if has_placeholder {
        String::new()
    } else {
        words.join(" ")
    });

    let mut planned = vec![Arg::text("run")];
    let is_kept = |item: &&ArgumentItem<'_>| {
        let is_prompt = own.contains(item) || item.flag == "--";
        Some(item.at) != run && (has_placeholder || !is_prompt)
    };
    let mut format = EVENTS;
    match items.iter().rev().find(|item| item.flag == "--format") {
        None => planned.extend(["--format", "json"].map(Arg::text)),
        Some(item) if item.value == Some("json") => {}
        Some(_) => format = StreamFormat::Text,
    }
    for item in items.iter().filter(is_kept) {
        planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
    }
    Ok(LaunchDraft {
        args: planned,
        uses_stdin: !has_placeholder,
        prompt,
        format,
    })
}

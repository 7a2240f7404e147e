//! Codex CLI: `codex exec --json PROMPT`.

use crate::AgentProgram;
use crate::StreamFormat;
use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft, is_unfit_as_argument};
use crate::adapters::{LaunchAdapter, PROMPT_PLACEHOLDER, PromptInput};
use heirloom_model::Fault;

/// Format of the event stream.
const EVENTS: StreamFormat = StreamFormat::Events(AgentProgram::Codex);

/// Codex CLI.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["codex"],
    packages: &["@openai/codex"],
    format: EVENTS,
    instruction_files: &["AGENTS.md", "AGENTS.override.md"],
};

/// The flags of Codex CLI 0.169, of the program and of `exec`.
const FLAGS: FlagTable = FlagTable {
    switches: &[
        "--all",
        "--approve-for-me",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--ephemeral",
        "--experimental-json",
        "--full-auto",
        "--ignore-rules",
        "--ignore-user-config",
        "--json",
        "--last",
        "--no-alt-screen",
        "--no-daemon",
        "--oss",
        "--search",
        "--skip-git-repo-check",
        "--strict-config",
        "--trust",
        "--uncommitted",
        "--worktree",
        "--yolo",
    ],
    values: &[
        "--add-dir",
        "-a",
        "--ask-for-approval",
        "--base",
        "-c",
        "--config",
        "-C",
        "--cd",
        "--color",
        "--commit",
        "--cyber-access-program",
        "--disable",
        "--enable",
        "--local-provider",
        "-m",
        "--model",
        "-o",
        "--output-last-message",
        "--output-schema",
        "-p",
        "--profile",
        "--remote",
        "--remote-auth-token-env",
        "-s",
        "--sandbox",
        "--thread-source",
        "--title",
    ],
    optional_values: &[],
    multiple_values: &["-i", "--image"],
};

/// Flags that only the program accepts, before `exec`.
const BEFORE_EXEC: &[&str] = &[
    "-a",
    "--ask-for-approval",
    "--search",
    "--no-alt-screen",
    "--no-daemon",
    "--remote",
    "--remote-auth-token-env",
];

/// Subcommands that also exist under `exec`.
const EXEC_SUBCOMMANDS: &[&str] = &["resume", "fork", "review"];

/// Subcommands that do not start an agent.
const NON_AGENT_SUBCOMMANDS: &[&str] = &[
    "agents",
    "app",
    "app-server",
    "apply",
    "archive",
    "cloud",
    "completion",
    "debug",
    "delete",
    "doctor",
    "exec-server",
    "features",
    "help",
    "login",
    "logout",
    "mcp",
    "mcp-server",
    "plugin",
    "queue",
    "remote-control",
    "sandbox",
    "unarchive",
    "update",
];

/// Plans the command of one iteration.
///
/// `exec` is added if it is missing: the interactive program cannot run in a loop. The person's prompt is the last
/// word after `exec` (after the session of `exec resume`).
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let (before, tail) = split_at_exec(args)?;
    let items = FLAGS.parse(&tail);
    let own = user_prompt(&items)?;
    let keeps_user_prompt =
        has_placeholder && own.is_some_and(|item| item.value != Some(PROMPT_PLACEHOLDER));
    let is_prompt_elsewhere = has_placeholder && own.is_none();
    let content = own.filter(|item| !has_placeholder && item.value != Some("-"));
    let prompt = input.prompt(content.and_then(|item| item.value).unwrap_or(""));
    let uses_stdin = !keeps_user_prompt && !is_prompt_elsewhere && is_unfit_as_argument(&prompt);
    // `-` makes Codex read the prompt from standard input.
    let place = if uses_stdin {
        Arg::text("-")
    } else {
        Arg::Prompt
    };

    let mut planned: Vec<Arg> = before.iter().map(|arg| Arg::text(arg)).collect();
    planned.push(Arg::text("exec"));
    let has = |flags: &[&str]| items.iter().any(|item| item.is_any_of(flags));
    if !has(&["--json", "--experimental-json"]) {
        planned.push(Arg::text("--json"));
    }
    if !input.in_git && !has(&["--skip-git-repo-check"]) {
        planned.push(Arg::text("--skip-git-repo-check"));
    }
    for (at, arg) in tail.iter().enumerate() {
        let is_own = own.is_some_and(|own| own.at == at) && !keeps_user_prompt;
        planned.push(if is_own {
            place.clone()
        } else {
            Arg::text(arg)
        });
    }
    if own.is_none() && !is_prompt_elsewhere {
        // After `--` no flag with several values can consume the prompt.
        if !has(&["--"]) {
            planned.push(Arg::text("--"));
        }
        planned.push(place);
    }
    Ok(LaunchDraft {
        args: planned,
        uses_stdin,
        prompt,
        format: LAUNCH.format,
    })
}

/// Splits the arguments at `exec`, or at the place where it belongs if it was not typed.
fn split_at_exec(args: &[String]) -> Result<(Vec<String>, Vec<String>), Fault> {
    let items = FLAGS.parse(args);
    let word = items
        .iter()
        .take_while(|item| item.flag != "--")
        .find(|item| item.is_word());
    match word.map(|item| (item.at, item.value.unwrap_or_default())) {
        Some((at, "exec" | "e")) => Ok((args[..at].to_vec(), args[at + 1..].to_vec())),
        Some((at, name)) if EXEC_SUBCOMMANDS.contains(&name) => {
            Ok((args[..at].to_vec(), args[at..].to_vec()))
        }
        Some((_, name)) if NON_AGENT_SUBCOMMANDS.contains(&name) => Err(Fault::usage(format!(
            "`codex {name}` does not start an agent"
        ))
        .hint("heirloom run -- codex exec \"fix the tests\"")),
        Some(_) | None => {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for item in &items {
                let side = if item.is_any_of(BEFORE_EXEC) {
                    &mut before
                } else {
                    &mut after
                };
                side.extend_from_slice(&args[item.at..item.end]);
            }
            Ok((before, after))
        }
    }
}

/// Returns the person's prompt among the arguments after `exec`.
fn user_prompt<'i, 'a>(
    items: &'i [ArgumentItem<'a>],
) -> Result<Option<&'i ArgumentItem<'a>>, Fault> {
    let words: Vec<&ArgumentItem<'_>> = items.iter().filter(|item| item.is_word()).collect();
    let first = words.first().and_then(|item| item.value);
    let position = match first {
        Some("resume") if items.iter().any(|item| item.is_any_of(&["--last"])) => 1,
        Some("resume" | "fork") if words.len() == 1 => {
            return Err(Fault::usage("no session for codex to continue")
                .hint("name the session, or use `--last`: codex exec resume --last"));
        }
        Some("resume" | "fork") => 2,
        Some("review") => 1,
        Some(_) | None => {
            return Ok(items
                .iter()
                .rev()
                .find(|item| item.is_word() && item.is_certain));
        }
    };
    Ok(words.get(position).copied())
}

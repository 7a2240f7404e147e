//! Gemini CLI: `gemini -p PROMPT --output-format stream-json`.
//!
//! `--skip-trust` is not added: in an untrusted folder it would let the project's settings start programs. Gemini CLI
//! itself prints the instructions for that case.

use crate::AgentProgram;
use crate::StreamFormat;
use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft, is_unfit_as_argument};
use crate::adapters::{LaunchAdapter, PROMPT_PLACEHOLDER, PromptInput};
use heirloom_model::Fault;

/// Format of the event stream.
const EVENTS: StreamFormat = StreamFormat::Events(AgentProgram::Gemini);

/// Gemini CLI.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["gemini"],
    packages: &["@google/gemini-cli"],
    format: EVENTS,
    instruction_files: &["GEMINI.md"],
};

/// The flags of Gemini CLI 0.61.
const FLAGS: FlagTable = FlagTable {
    switches: &[
        "-d",
        "--debug",
        "--skip-trust",
        "-s",
        "--sandbox",
        "-y",
        "--yolo",
        "--screen-reader",
        "--raw-output",
        "--accept-raw-output-risk",
        "-l",
        "--list-extensions",
        "--list-sessions",
    ],
    values: &[
        "-m",
        "--model",
        "-p",
        "--prompt",
        "-i",
        "--prompt-interactive",
        "--approval-mode",
        "--session-file",
        "--session-id",
        "--delete-session",
        "-o",
        "--output-format",
    ],
    optional_values: &["-w", "--worktree", "-r", "--resume"],
    multiple_values: &[
        "--policy",
        "--admin-policy",
        "--allowed-mcp-server-names",
        "--allowed-tools",
        "-e",
        "--extensions",
        "--include-directories",
    ],
};

const PROMPT: &[&str] = &["-p", "--prompt"];

/// Subcommands that do not start an agent.
const NON_AGENT_SUBCOMMANDS: &[&str] = &[
    "mcp",
    "extensions",
    "extension",
    "skills",
    "skill",
    "hooks",
    "hook",
    "gemma",
];

/// Plans the command of one iteration.
///
/// The person's prompt is the value of `-p`, else the words of the command.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let items = FLAGS.parse(args);
    check_supported(&items)?;
    let own: Vec<&ArgumentItem<'_>> = user_prompt(&items);
    let words: Vec<&str> = own.iter().filter_map(|item| item.value).collect();
    let words = words.join(" ");
    let keeps_user_prompt = has_placeholder && words != PROMPT_PLACEHOLDER;
    let prompt = input.prompt(if has_placeholder { "" } else { &words });
    let uses_stdin = !keeps_user_prompt && is_unfit_as_argument(&prompt);

    let mut planned = Vec::with_capacity(args.len() + 4);
    let place_here = !keeps_user_prompt && !uses_stdin;
    if place_here {
        planned.extend([Arg::text("-p"), Arg::Prompt]);
    }
    for item in &items {
        if keeps_user_prompt || !own.contains(&item) {
            planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
        }
    }
    let format = add_format(&items, &mut planned);
    Ok(LaunchDraft {
        args: planned,
        uses_stdin,
        prompt,
        format,
    })
}

/// Rejects arguments that cannot work in a run.
fn check_supported(items: &[ArgumentItem<'_>]) -> Result<(), Fault> {
    if items
        .iter()
        .any(|item| item.is_any_of(&["-i", "--prompt-interactive"]))
    {
        return Err(Fault::usage("`gemini -i` waits for a person")
            .hint("heirloom run -- gemini -p \"fix the tests\""));
    }
    let first = items.iter().find(|item| item.is_word());
    let name = first.and_then(|item| item.value).unwrap_or_default();
    if NON_AGENT_SUBCOMMANDS.contains(&name) {
        return Err(
            Fault::usage(format!("`gemini {name}` does not start an agent"))
                .hint("heirloom run -- gemini -p \"fix the tests\""),
        );
    }
    Ok(())
}

fn user_prompt<'i, 'a>(items: &'i [ArgumentItem<'a>]) -> Vec<&'i ArgumentItem<'a>> {
    let by_flag: Vec<&ArgumentItem<'_>> =
        items.iter().filter(|item| item.is_any_of(PROMPT)).collect();
    if !by_flag.is_empty() {
        return by_flag;
    }
    let safe = |item: &&ArgumentItem<'_>| item.is_word() && item.is_certain;
    items.iter().filter(safe).collect()
}

/// Adds the output format unless the command has one; returns the resulting format.
fn add_format(items: &[ArgumentItem<'_>], planned: &mut Vec<Arg>) -> StreamFormat {
    let mut requested = items.iter().rev();
    let requested = requested.find(|item| item.is_any_of(&["-o", "--output-format"]));
    match requested.map(|item| item.value.unwrap_or_default()) {
        None => {
            let more = ["--output-format", "stream-json"].map(Arg::text);
            let end = planned.iter().position(|arg| *arg == Arg::text("--"));
            let at = end.unwrap_or(planned.len());
            planned.splice(at..at, more);
            EVENTS
        }
        Some("stream-json") => EVENTS,
        Some("text") => StreamFormat::Text,
        Some(_) => StreamFormat::Auto,
    }
}

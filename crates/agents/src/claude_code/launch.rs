//! Claude Code: `claude -p PROMPT --output-format stream-json --verbose`.

use crate::AgentProgram;
use crate::StreamFormat;
use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft, is_unfit_as_argument};
use crate::adapters::{LaunchAdapter, PROMPT_PLACEHOLDER, PromptInput};
use heirloom_model::{Fault, limits};

/// Format of the event stream.
const EVENTS: StreamFormat = StreamFormat::Events(AgentProgram::ClaudeCode);

/// Claude Code.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["claude", "claude-code"],
    packages: &["@anthropic-ai/claude-code"],
    format: EVENTS,
    instruction_files: &["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"],
};

/// The flags of Claude Code 2.1.
const FLAGS: FlagTable = FlagTable {
    switches: &[
        "-p",
        "--print",
        "-c",
        "--continue",
        "--allow-dangerously-skip-permissions",
        "--ax-screen-reader",
        "--bare",
        "--brief",
        "--chrome",
        "--dangerously-skip-permissions",
        "--disable-slash-commands",
        "--exclude-dynamic-system-prompt-sections",
        "--fork-session",
        "--ide",
        "--include-hook-events",
        "--include-partial-messages",
        "--no-chrome",
        "--no-session-persistence",
        "--replay-user-messages",
        "--safe-mode",
        "--strict-mcp-config",
        "--verbose",
    ],
    values: &[
        "--agent",
        "--agents",
        "--append-system-prompt",
        "--append-system-prompt-file",
        "--debug-file",
        "--effort",
        "--fallback-model",
        "--input-format",
        "--json-schema",
        "--max-budget-usd",
        "--max-turns",
        "--model",
        "-n",
        "--name",
        "--output-format",
        "--permission-mode",
        "--permission-prompt-tool",
        "--plugin-dir",
        "--plugin-url",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--system-prompt-file",
    ],
    optional_values: &[
        "-d",
        "--debug",
        "--from-pr",
        "--prompt-suggestions",
        "--remote-control",
        "-r",
        "--resume",
        "-w",
        "--worktree",
    ],
    multiple_values: &[
        "--add-dir",
        "--allowedTools",
        "--allowed-tools",
        "--betas",
        "--disallowedTools",
        "--disallowed-tools",
        "--file",
        "--mcp-config",
        "--tools",
    ],
};

/// Flags of system prompts, which must not contain the prompt placeholder.
const SYSTEM_PROMPTS: &[&str] = &["--system-prompt", "--append-system-prompt"];

/// Flag that adds the rules to the system prompt, and the one with a file, of which a command may have only one.
const RULES_FLAGS: &[&str] = &["--append-system-prompt", "--append-system-prompt-file"];

/// Plans the command of one iteration.
///
/// The person's prompt is the word after `-p`, else the last word that cannot be the value of an unknown flag. `-p`,
/// `--output-format stream-json` and `--verbose` are added; a different output format in the command is kept. Rules go
/// into the system prompt, unless they are too long or the command adds its own text to it.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let items = FLAGS.parse(args);
    check_supported(&items)?;
    let print = items.iter().find(|item| is_print(item));
    let own = user_prompt(&items, print);
    let keeps_user_prompt =
        has_placeholder && own.is_some_and(|item| item.value != Some(PROMPT_PLACEHOLDER));
    let is_prompt_elsewhere = has_placeholder && own.is_none();
    let user_text = own.filter(|_| !has_placeholder);
    let user_text = user_text.and_then(|item| item.value).unwrap_or("");
    let has_rules_argument = takes_rules_argument(&items, &input.rules);
    let prompt = match has_rules_argument {
        true => input.prompt_without_rules(user_text),
        false => input.prompt(user_text),
    };
    let uses_stdin = !keeps_user_prompt && !is_prompt_elsewhere && is_unfit_as_argument(&prompt);

    let mut planned = Vec::with_capacity(args.len() + 5);
    let place_here = !keeps_user_prompt && !is_prompt_elsewhere && !uses_stdin;
    if print.is_none() {
        planned.push(Arg::text("-p"));
        if own.is_none() && place_here {
            planned.push(Arg::Prompt);
        }
    }
    for (at, arg) in args.iter().enumerate() {
        if own.is_some_and(|own| own.at == at) && !keeps_user_prompt {
            planned.extend(place_here.then_some(Arg::Prompt));
            continue;
        }
        planned.push(Arg::text(arg));
        if own.is_none() && print.is_some_and(|print| print.at == at) && place_here {
            planned.push(Arg::Prompt);
        }
    }
    if has_rules_argument {
        insert_flags(&mut planned, [Arg::text(RULES_FLAGS[0]), Arg::Rules]);
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
    let input = items
        .iter()
        .find(|item| item.is_any_of(&["--input-format"]));
    if input.is_some_and(|item| item.value == Some("stream-json")) {
        return Err(Fault::usage(
            "`--input-format stream-json` reads a conversation, but a run passes one prompt",
        )
        .hint("leave `--input-format` out"));
    }
    let in_system = |item: &ArgumentItem<'_>| {
        item.is_any_of(SYSTEM_PROMPTS) && item.value.is_some_and(|v| v.contains(PROMPT_PLACEHOLDER))
    };
    if items.iter().any(in_system) {
        return Err(Fault::usage(
            "`{prompt}` is a user prompt and cannot be part of a system prompt",
        )
        .hint("put it after `-p`"));
    }
    Ok(())
}

/// Returns true for `-p`, `--print` or a cluster such as `-pc`.
fn is_print(item: &ArgumentItem<'_>) -> bool {
    let cluster = item.flag.strip_prefix('-').unwrap_or_default();
    item.flag == "--print"
        || (!cluster.starts_with('-') && cluster.contains('p') && item.value.is_none())
}

fn user_prompt<'i, 'a>(
    items: &'i [ArgumentItem<'a>],
    print: Option<&ArgumentItem<'a>>,
) -> Option<&'i ArgumentItem<'a>> {
    let after_print = print.and_then(|print| items.iter().find(|item| item.at == print.end));
    after_print.filter(|item| item.is_word()).or_else(|| {
        let safe = |item: &&ArgumentItem<'_>| item.is_word() && item.is_certain;
        items.iter().rev().find(safe)
    })
}

/// Returns true if the rules are passed as an argument of their own.
fn takes_rules_argument(items: &[ArgumentItem<'_>], rules: &str) -> bool {
    let fits = !rules.is_empty() && rules.len() <= limits::PROMPT_ARG_BYTES_MAX;
    fits && !items.iter().any(|item| item.is_any_of(RULES_FLAGS))
}

/// Inserts flags before `--`, after which every argument is a word.
fn insert_flags(planned: &mut Vec<Arg>, flags: impl IntoIterator<Item = Arg>) {
    let end = planned.iter().position(|arg| *arg == Arg::text("--"));
    let at = end.unwrap_or(planned.len());
    planned.splice(at..at, flags);
}

/// Adds the output format unless the command has one; returns the resulting format.
fn add_format(items: &[ArgumentItem<'_>], planned: &mut Vec<Arg>) -> StreamFormat {
    let requested = items
        .iter()
        .rev()
        .find(|item| item.is_any_of(&["--output-format"]));
    let mut more = Vec::new();
    let format = match requested.map(|item| item.value.unwrap_or_default()) {
        None => {
            more.extend(["--output-format", "stream-json"]);
            EVENTS
        }
        Some("stream-json") => EVENTS,
        Some("text") => StreamFormat::Text,
        Some(_) => StreamFormat::Auto,
    };
    if format == EVENTS && !items.iter().any(|item| item.is_any_of(&["--verbose"])) {
        more.push("--verbose");
    }
    insert_flags(planned, more.into_iter().map(Arg::text));
    format
}

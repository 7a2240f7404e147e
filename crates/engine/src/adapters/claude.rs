//! Claude Code: `claude -p PROMPT --output-format stream-json --verbose`.

use super::flags::{Flags, Item};
use super::launch::{Arg, Draft, unfit_as_argument};
use super::{Handover, PROMPT_MARK, Profile};
use heirloom_model::{Fault, stream::StreamFormat};
use std::path::{Path, PathBuf};

/// Claude Code.
pub(super) const PROFILE: Profile = Profile {
    name: "claude-code",
    programs: &["claude", "claude-code"],
    packages: &["@anthropic-ai/claude-code"],
    format: StreamFormat::ClaudeStream,
    instruction_files: &["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"],
};

/// The flags of Claude Code 2.1.
const FLAGS: Flags = Flags {
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
    maybe: &[
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
    many: &[
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

/// Memory belongs into the user prompt: these flags are no place for it.
const SYSTEM_PROMPTS: &[&str] = &["--system-prompt", "--append-system-prompt"];

/// The command for one iteration.
///
/// The person's own prompt is the word after `-p`, else the last word that cannot be the value of a
/// flag we do not know. `-p`, `--output-format stream-json` and `--verbose` are added; another
/// output format that the command asks for stays.
pub(super) fn plan(args: &[String], memory: &Handover, marked: bool) -> Result<Draft, Fault> {
    let items = FLAGS.read(args);
    check(&items)?;
    let print = items.iter().find(|item| is_print(item));
    let own = own_prompt(&items, print);
    let keep_own = marked && own.is_some_and(|item| item.value != Some(PROMPT_MARK));
    let nowhere = marked && own.is_none();
    let prompt = memory.prompt(
        own.filter(|_| !marked)
            .and_then(|item| item.value)
            .unwrap_or(""),
    );
    let by_stdin = !keep_own && !nowhere && unfit_as_argument(&prompt);

    let mut planned = Vec::with_capacity(args.len() + 5);
    let place_here = !keep_own && !nowhere && !by_stdin;
    if print.is_none() {
        planned.push(Arg::text("-p"));
        if own.is_none() && place_here {
            planned.push(Arg::Prompt);
        }
    }
    for (at, arg) in args.iter().enumerate() {
        if own.is_some_and(|own| own.at == at) && !keep_own {
            planned.extend(place_here.then_some(Arg::Prompt));
            continue;
        }
        planned.push(Arg::text(arg));
        if own.is_none() && print.is_some_and(|print| print.at == at) && place_here {
            planned.push(Arg::Prompt);
        }
    }
    let format = add_format(&items, &mut planned);
    Ok(Draft {
        args: planned,
        by_stdin,
        prompt,
        format,
    })
}

/// Refuses what cannot work in a run.
fn check(items: &[Item<'_>]) -> Result<(), Fault> {
    let input = items.iter().find(|item| item.is(&["--input-format"]));
    if input.is_some_and(|item| item.value == Some("stream-json")) {
        return Err(Fault::usage(
            "`--input-format stream-json` reads a conversation, a run hands over one prompt",
        )
        .hint("leave `--input-format` out"));
    }
    let in_system = |item: &Item<'_>| {
        item.is(SYSTEM_PROMPTS) && item.value.is_some_and(|v| v.contains(PROMPT_MARK))
    };
    if items.iter().any(in_system) {
        return Err(Fault::usage(
            "`{prompt}` is a user prompt, it does not go into a system prompt",
        )
        .hint("put it after `-p`"));
    }
    Ok(())
}

/// Whether this is `-p`, `--print` or a cluster such as `-pc`.
fn is_print(item: &Item<'_>) -> bool {
    let cluster = item.flag.strip_prefix('-').unwrap_or_default();
    item.flag == "--print"
        || (!cluster.starts_with('-') && cluster.contains('p') && item.value.is_none())
}

fn own_prompt<'i, 'a>(items: &'i [Item<'a>], print: Option<&Item<'a>>) -> Option<&'i Item<'a>> {
    let after_print = print.and_then(|print| items.iter().find(|item| item.at == print.end));
    after_print.filter(|item| item.is_word()).or_else(|| {
        let safe = |item: &&Item<'_>| item.is_word() && item.safe;
        items.iter().rev().find(safe)
    })
}

/// Adds the output format unless one is asked for; what the output will look like.
fn add_format(items: &[Item<'_>], planned: &mut Vec<Arg>) -> StreamFormat {
    let asked = items
        .iter()
        .rev()
        .find(|item| item.is(&["--output-format"]));
    let mut more = Vec::new();
    let format = match asked.map(|item| item.value.unwrap_or_default()) {
        None => {
            more.extend(["--output-format", "stream-json"]);
            StreamFormat::ClaudeStream
        }
        Some("stream-json") => StreamFormat::ClaudeStream,
        Some("text") => StreamFormat::Text,
        Some(_) => StreamFormat::Auto,
    };
    if format == StreamFormat::ClaudeStream && !items.iter().any(|item| item.is(&["--verbose"])) {
        more.push("--verbose");
    }
    // After a `--` everything is a word.
    let end = planned.iter().position(|arg| *arg == Arg::text("--"));
    let at = end.unwrap_or(planned.len());
    planned.splice(at..at, more.into_iter().map(Arg::text));
    format
}

/// The folder of a project's conversations: the path with everything but letters and digits as `-`.
pub(super) fn transcripts(home: &Path, project_root: &Path) -> PathBuf {
    let folder: String = project_root
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    home.join(".claude/projects").join(folder)
}

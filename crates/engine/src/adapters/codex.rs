//! Codex CLI: `codex exec --json PROMPT`.

use super::flags::{Flags, Item};
use super::launch::{Arg, Draft, unfit_as_argument};
use super::{Handover, PROMPT_MARK, Profile};
use heirloom_model::{Fault, stream::StreamFormat};

/// Codex CLI.
pub(super) const PROFILE: Profile = Profile {
    name: "codex",
    programs: &["codex"],
    packages: &["@openai/codex"],
    format: StreamFormat::CodexJson,
    instruction_files: &["AGENTS.md", "AGENTS.override.md"],
};

/// The flags of Codex CLI 0.169, of the program and of `exec`.
const FLAGS: Flags = Flags {
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
    maybe: &[],
    many: &["-i", "--image"],
};

/// Flags that only the program takes, before `exec`.
const BEFORE_EXEC: &[&str] = &[
    "-a",
    "--ask-for-approval",
    "--search",
    "--no-alt-screen",
    "--no-daemon",
    "--remote",
    "--remote-auth-token-env",
];

/// Subcommands that `exec` has too.
const OF_EXEC: &[&str] = &["resume", "fork", "review"];

/// Subcommands that are no agent at work.
const OTHERS: &[&str] = &[
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

/// The command for one iteration.
///
/// `exec` is added when it is missing: the interactive program cannot run in a loop. The person's
/// own prompt is the last word after `exec` (after the session of `exec resume`).
pub(super) fn plan(args: &[String], memory: &Handover, marked: bool) -> Result<Draft, Fault> {
    let (before, tail) = split_at_exec(args)?;
    let items = FLAGS.read(&tail);
    let own = own_prompt(&items)?;
    let keep_own = marked && own.is_some_and(|item| item.value != Some(PROMPT_MARK));
    let nowhere = marked && own.is_none();
    let said = own.filter(|item| !marked && item.value != Some("-"));
    let prompt = memory.prompt(said.and_then(|item| item.value).unwrap_or(""));
    let by_stdin = !keep_own && !nowhere && unfit_as_argument(&prompt);
    // `-` makes Codex read the prompt from standard input.
    let place = if by_stdin {
        Arg::text("-")
    } else {
        Arg::Prompt
    };

    let mut planned: Vec<Arg> = before.iter().map(|arg| Arg::text(arg)).collect();
    planned.push(Arg::text("exec"));
    let has = |flags: &[&str]| items.iter().any(|item| item.is(flags));
    if !has(&["--json", "--experimental-json"]) {
        planned.push(Arg::text("--json"));
    }
    if !memory.in_git && !has(&["--skip-git-repo-check"]) {
        planned.push(Arg::text("--skip-git-repo-check"));
    }
    for (at, arg) in tail.iter().enumerate() {
        let is_own = own.is_some_and(|own| own.at == at) && !keep_own;
        planned.push(if is_own {
            place.clone()
        } else {
            Arg::text(arg)
        });
    }
    if own.is_none() && !nowhere {
        // Behind `--` no flag with many values can take it.
        if !has(&["--"]) {
            planned.push(Arg::text("--"));
        }
        planned.push(place);
    }
    Ok(Draft {
        args: planned,
        by_stdin,
        prompt,
        format: PROFILE.format,
    })
}

/// The arguments before and after `exec`, whether or not it was typed.
fn split_at_exec(args: &[String]) -> Result<(Vec<String>, Vec<String>), Fault> {
    let items = FLAGS.read(args);
    let word = items
        .iter()
        .take_while(|item| item.flag != "--")
        .find(|item| item.is_word());
    match word.map(|item| (item.at, item.value.unwrap_or_default())) {
        Some((at, "exec" | "e")) => Ok((args[..at].to_vec(), args[at + 1..].to_vec())),
        Some((at, name)) if OF_EXEC.contains(&name) => {
            Ok((args[..at].to_vec(), args[at..].to_vec()))
        }
        Some((_, name)) if OTHERS.contains(&name) => {
            Err(Fault::usage(format!("`codex {name}` is no agent at work"))
                .hint("heirloom run -- codex exec \"fix the tests\""))
        }
        Some(_) | None => {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for item in &items {
                let side = if item.is(BEFORE_EXEC) {
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

/// The person's own prompt among the arguments after `exec`.
fn own_prompt<'i, 'a>(items: &'i [Item<'a>]) -> Result<Option<&'i Item<'a>>, Fault> {
    let words: Vec<&Item<'_>> = items.iter().filter(|item| item.is_word()).collect();
    let first = words.first().and_then(|item| item.value);
    let position = match first {
        Some("resume") if items.iter().any(|item| item.is(&["--last"])) => 1,
        Some("resume" | "fork") if words.len() == 1 => {
            return Err(Fault::usage("which session shall codex go on with?")
                .hint("name it, or say `--last`: codex exec resume --last"));
        }
        Some("resume" | "fork") => 2,
        Some("review") => 1,
        Some(_) | None => {
            return Ok(items.iter().rev().find(|item| item.is_word() && item.safe));
        }
    };
    Ok(words.get(position).copied())
}

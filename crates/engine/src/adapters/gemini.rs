//! Gemini CLI: `gemini -p PROMPT --output-format stream-json`.
//!
//! `--skip-trust` is not added: in a folder that the person has not trusted, it would let the
//! project's settings start programs. Gemini CLI then says itself what to do.

use super::flags::{Flags, Item};
use super::launch::{Arg, Draft, unfit_as_argument};
use super::{Handover, PROMPT_MARK, Profile};
use heirloom_model::{Fault, stream::StreamFormat};

/// Gemini CLI.
pub(super) const PROFILE: Profile = Profile {
    name: "gemini",
    programs: &["gemini"],
    packages: &["@google/gemini-cli"],
    format: StreamFormat::GeminiStream,
    instruction_files: &["GEMINI.md"],
};

/// The flags of Gemini CLI 0.61.
const FLAGS: Flags = Flags {
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
    maybe: &["-w", "--worktree", "-r", "--resume"],
    many: &[
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

/// Subcommands that are no agent at work.
const OTHERS: &[&str] = &[
    "mcp",
    "extensions",
    "extension",
    "skills",
    "skill",
    "hooks",
    "hook",
    "gemma",
];

/// The command for one iteration.
///
/// The person's own prompt is the value of `-p`, else the words of the command.
pub(super) fn plan(args: &[String], memory: &Handover, marked: bool) -> Result<Draft, Fault> {
    let items = FLAGS.read(args);
    check(&items)?;
    let own: Vec<&Item<'_>> = own_prompt(&items);
    let words: Vec<&str> = own.iter().filter_map(|item| item.value).collect();
    let words = words.join(" ");
    let keep_own = marked && words != PROMPT_MARK;
    let prompt = memory.prompt(if marked { "" } else { &words });
    let by_stdin = !keep_own && unfit_as_argument(&prompt);

    let mut planned = Vec::with_capacity(args.len() + 4);
    let place_here = !keep_own && !by_stdin;
    if place_here {
        planned.extend([Arg::text("-p"), Arg::Prompt]);
    }
    for item in &items {
        if keep_own || !own.contains(&item) {
            planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
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
    if items
        .iter()
        .any(|item| item.is(&["-i", "--prompt-interactive"]))
    {
        return Err(Fault::usage("`gemini -i` waits for a person")
            .hint("heirloom run -- gemini -p \"fix the tests\""));
    }
    let first = items.iter().find(|item| item.is_word());
    let name = first.and_then(|item| item.value).unwrap_or_default();
    if OTHERS.contains(&name) {
        return Err(Fault::usage(format!("`gemini {name}` is no agent at work"))
            .hint("heirloom run -- gemini -p \"fix the tests\""));
    }
    Ok(())
}

fn own_prompt<'i, 'a>(items: &'i [Item<'a>]) -> Vec<&'i Item<'a>> {
    let by_flag: Vec<&Item<'_>> = items.iter().filter(|item| item.is(PROMPT)).collect();
    if !by_flag.is_empty() {
        return by_flag;
    }
    let safe = |item: &&Item<'_>| item.is_word() && item.safe;
    items.iter().filter(safe).collect()
}

/// Adds the output format unless one is asked for; what the output will look like.
fn add_format(items: &[Item<'_>], planned: &mut Vec<Arg>) -> StreamFormat {
    let mut asked = items.iter().rev();
    let asked = asked.find(|item| item.is(&["-o", "--output-format"]));
    match asked.map(|item| item.value.unwrap_or_default()) {
        None => {
            let more = ["--output-format", "stream-json"].map(Arg::text);
            let end = planned.iter().position(|arg| *arg == Arg::text("--"));
            let at = end.unwrap_or(planned.len());
            planned.splice(at..at, more);
            StreamFormat::GeminiStream
        }
        Some("stream-json") => StreamFormat::GeminiStream,
        Some("text") => StreamFormat::Text,
        Some(_) => StreamFormat::Auto,
    }
}

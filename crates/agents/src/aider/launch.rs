//! aider: `aider --message-file FILE --yes-always`.
//!
//! Without a person aider takes its default answer for every question, mostly yes. Unless the command names them,
//! features that a person may not want are disabled: self-update, analytics, opening a browser, fetching every URL in
//! the prompt, creating a git repository. Pretty output is disabled too, because it wraps lines and so breaks
//! signals.

use crate::StreamFormat;
use crate::adapters::flags::{ArgumentItem, FlagTable};
use crate::adapters::launch::{Arg, LaunchDraft};
use crate::adapters::{LaunchAdapter, PROMPT_PLACEHOLDER, PromptInput};
use heirloom_fs::durable::regular_file::{self, FileReadError, LinkPolicy};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::Path;

/// aider.
pub(crate) const LAUNCH: LaunchAdapter = LaunchAdapter {
    plan,
    programs: &["aider"],
    packages: &["aider-chat"],
    format: StreamFormat::Text,
    instruction_files: &["CONVENTIONS.md"],
};

/// The flags of aider whose value could be mistaken for another argument.
const FLAGS: FlagTable = FlagTable {
    switches: &[],
    values: &["--message", "--msg", "-m", "--message-file", "-f"],
    optional_values: &[],
    multiple_values: &[],
};

const MESSAGE: &[&str] = &["--message", "--msg", "-m"];
const MESSAGE_FILE: &[&str] = &["--message-file", "-f"];

/// Flags that disable a feature, and the words in a command that set the feature explicitly.
const DISABLED_FEATURES: [(&str, &[&str]); 7] = [
    ("--no-pretty", &["pretty"]),
    // Without streaming it wraps lines even when it is not pretty.
    ("--stream", &["stream"]),
    ("--no-show-model-warnings", &["show-model-warnings"]),
    ("--no-check-update", &["check-update", "upgrade"]),
    ("--no-analytics", &["analytics"]),
    ("--no-show-release-notes", &["show-release-notes"]),
    ("--no-detect-urls", &["detect-urls"]),
];

/// Plans the command of one iteration.
///
/// The person's prompt is the last `--message` or `--message-file`; both are replaced by one `--message-file` with
/// the whole prompt.
fn plan(args: &[String], input: &PromptInput, has_placeholder: bool) -> Result<LaunchDraft, Fault> {
    let items = FLAGS.parse(args);
    let is_own = |item: &ArgumentItem<'_>| item.is_any_of(MESSAGE) || item.is_any_of(MESSAGE_FILE);
    let own = items.iter().rev().find(|item| is_own(item));
    let keeps_user_prompt =
        has_placeholder && own.and_then(|item| item.value) != Some(PROMPT_PLACEHOLDER);
    let user_text = match own.filter(|_| !has_placeholder) {
        Some(item) if item.is_any_of(MESSAGE_FILE) => {
            read_prompt_file(item.value.unwrap_or_default(), input)?
        }
        Some(item) => item.value.unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut prompt = input.prompt(&user_text);
    // aider runs a message that begins with `!` or `/` as a command; text from memory must not trigger that.
    if prompt.starts_with(['!', '/']) && !user_text.starts_with(['!', '/']) {
        prompt.insert(0, '\n');
    }

    let mut planned = Vec::with_capacity(args.len() + 8);
    if !keeps_user_prompt {
        planned.extend([Arg::text("--message-file"), Arg::PromptFile]);
    }
    planned.extend(missing_flags(args, input.in_git).into_iter().map(Arg::text));
    for item in &items {
        if keeps_user_prompt || !is_own(item) {
            planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
        }
    }
    Ok(LaunchDraft {
        args: planned,
        uses_stdin: false,
        prompt,
        format: LAUNCH.format,
    })
}

/// Returns the flags to add to the command.
fn missing_flags(args: &[String], in_git: bool) -> Vec<&'static str> {
    let named = |word: &str| {
        args.iter().any(|arg| {
            let flag = arg.strip_prefix("--").unwrap_or_default();
            flag.strip_prefix("no-").unwrap_or(flag).starts_with(word)
        })
    };
    let mut flags = Vec::new();
    if !named("yes") {
        flags.push("--yes-always");
    }
    for (flag, words) in DISABLED_FEATURES {
        if !words.iter().any(|word| named(word)) {
            flags.push(flag);
        }
    }
    let git_said = args.iter().any(|arg| arg == "--git" || arg == "--no-git");
    if !in_git && !git_said {
        flags.push("--no-git");
    }
    flags
}

/// Reads the person's prompt file.
fn read_prompt_file(name: &str, input: &PromptInput) -> Result<String, Fault> {
    let path = input.cwd.join(Path::new(name));
    let cannot = |why: &str| format!("the prompt file {} {why}", path.to_escaped());
    let most = limits::PROMPT_FILE_BYTES_MAX;
    regular_file::read_text(&path, LinkPolicy::Follow, most as u64).map_err(|problem| match problem
    {
        FileReadError::Missing => Fault::not_found(cannot("does not exist")),
        FileReadError::NotRegularFile => Fault::failed(cannot("is not a file")),
        FileReadError::TooLarge(_) => Fault::usage(cannot(&format!("has more than {most} bytes"))),
        FileReadError::Unreadable(error) => {
            Fault::failed(cannot(&format!("cannot be read: {error}")))
        }
    })
}

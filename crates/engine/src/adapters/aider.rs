//! aider: `aider --message-file FILE --yes-always`.
//!
//! Without a person aider takes its own default for every question, which is mostly yes. What a
//! person would not want to agree to unasked is switched off, unless the command names it: updating
//! itself, sending statistics, opening pages in a browser, fetching every address in the prompt,
//! making a git repository. Its pretty output wraps lines, which would break signals: off, too.

use super::flags::{Flags, Item};
use super::launch::{Arg, Draft};
use super::{Handover, PROMPT_MARK, Profile};
use heirloom_model::{Fault, limits, stream::StreamFormat};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// aider.
pub(super) const PROFILE: Profile = Profile {
    name: "aider",
    programs: &["aider"],
    packages: &["aider-chat"],
    format: StreamFormat::Text,
    instruction_files: &["CONVENTIONS.md"],
};

/// Of aider's many flags those whose value could be taken for something else here.
const FLAGS: Flags = Flags {
    switches: &[],
    values: &["--message", "--msg", "-m", "--message-file", "-f"],
    maybe: &[],
    many: &[],
};

const MESSAGE: &[&str] = &["--message", "--msg", "-m"];
const MESSAGE_FILE: &[&str] = &["--message-file", "-f"];

/// What is switched off, and the words of a command that say otherwise.
const SWITCHED_OFF: [(&str, &[&str]); 7] = [
    ("--no-pretty", &["pretty"]),
    // Without streaming it wraps lines even when it is not pretty.
    ("--stream", &["stream"]),
    ("--no-show-model-warnings", &["show-model-warnings"]),
    ("--no-check-update", &["check-update", "upgrade"]),
    ("--no-analytics", &["analytics"]),
    ("--no-show-release-notes", &["show-release-notes"]),
    ("--no-detect-urls", &["detect-urls"]),
];

/// The command for one iteration.
///
/// The person's own prompt is the last `--message` or `--message-file`; both give way to one
/// `--message-file` with the whole prompt.
pub(super) fn plan(args: &[String], memory: &Handover, marked: bool) -> Result<Draft, Fault> {
    let items = FLAGS.read(args);
    let is_own = |item: &Item<'_>| item.is(MESSAGE) || item.is(MESSAGE_FILE);
    let own = items.iter().rev().find(|item| is_own(item));
    let keep_own = marked && own.and_then(|item| item.value) != Some(PROMPT_MARK);
    let said = match own.filter(|_| !marked) {
        Some(item) if item.is(MESSAGE_FILE) => read_own(item.value.unwrap_or_default(), memory)?,
        Some(item) => item.value.unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut prompt = memory.prompt(&said);
    // aider runs a message that begins with `!` or `/` as a command: memory must not.
    if prompt.starts_with(['!', '/']) && !said.starts_with(['!', '/']) {
        prompt.insert(0, '\n');
    }

    let mut planned = Vec::with_capacity(args.len() + 8);
    if !keep_own {
        planned.extend([Arg::text("--message-file"), Arg::PromptFile]);
    }
    planned.extend(added(args, memory.in_git).into_iter().map(Arg::text));
    for item in &items {
        if keep_own || !is_own(item) {
            planned.extend(args[item.at..item.end].iter().map(|arg| Arg::text(arg)));
        }
    }
    Ok(Draft {
        args: planned,
        by_stdin: false,
        prompt,
        format: PROFILE.format,
    })
}

/// The flags that the command lacks.
fn added(args: &[String], in_git: bool) -> Vec<&'static str> {
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
    for (flag, words) in SWITCHED_OFF {
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

/// The person's own prompt file.
fn read_own(name: &str, memory: &Handover) -> Result<String, Fault> {
    let path = memory.cwd.join(Path::new(name));
    let cannot = |why: &str| format!("the prompt file {} {why}", path.display());
    let file = File::open(&path).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            Fault::not_found(cannot("does not exist"))
        } else {
            Fault::failed(cannot(&format!("cannot be read: {error}")))
        }
    })?;
    let mut bytes = Vec::new();
    let most = limits::PROMPT_FILE_BYTES_MAX;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::failed(cannot(&format!("cannot be read: {error}"))))?;
    if bytes.len() > most {
        return Err(Fault::usage(cannot(&format!("has more than {most} bytes"))));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

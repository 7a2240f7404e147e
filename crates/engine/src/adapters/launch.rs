//! The command of one iteration, ready but for the folder that holds its files.

use super::{Handover, PROMPT_MARK};
use heirloom_model::{Fault, limits, stream::StreamFormat};
use std::ffi::OsString;
use std::path::Path;

/// The file that holds the context, in the folder of the iteration's files.
pub const CONTEXT_FILE: &str = "context.md";
/// The file that holds the whole prompt, in the folder of the iteration's files.
pub const PROMPT_FILE: &str = "prompt.md";

/// Programs that run an argument as code, and the flags before it.
const INTERPRETERS: &[(&[&str], char)] = &[
    (
        &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "su"],
        'c',
    ),
    (&["python", "python3"], 'c'),
    (&["node", "perl", "ruby", "bun", "deno"], 'e'),
];

/// One argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// As it is.
    Text(String),
    /// The whole prompt.
    Prompt,
    /// The path of [`PROMPT_FILE`].
    PromptFile,
}

impl Arg {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program, as it was typed.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// What it reads on standard input, then closed; `None`: standard input is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Variables that are set besides those with the paths of the files.
    pub env: Vec<(String, String)>,
    /// The context alone.
    pub context: String,
    /// The whole prompt, for the record.
    pub prompt: String,
    /// What its output looks like.
    pub format: StreamFormat,
}

impl Launch {
    /// The files that the caller writes into a private folder before the start: name and content.
    pub fn files(&self) -> [(&'static str, &[u8]); 2] {
        [
            (CONTEXT_FILE, self.context.as_bytes()),
            (PROMPT_FILE, self.prompt.as_bytes()),
        ]
    }

    /// The arguments, with the files in `folder`.
    pub fn args_in(&self, folder: &Path) -> Vec<OsString> {
        let real = |arg: &Arg| match arg {
            Arg::Text(text) => OsString::from(text),
            Arg::Prompt => OsString::from(&self.prompt),
            Arg::PromptFile => folder.join(PROMPT_FILE).into_os_string(),
        };
        self.args.iter().map(real).collect()
    }

    /// The variables to set, with the files in `folder`.
    pub fn env_in(&self, folder: &Path) -> Vec<(OsString, OsString)> {
        let said = self.env.iter();
        let mut env: Vec<(OsString, OsString)> = said
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        for (name, file) in [
            ("HEIRLOOM_CONTEXT_FILE", CONTEXT_FILE),
            ("HEIRLOOM_PROMPT_FILE", PROMPT_FILE),
        ] {
            env.push((name.into(), folder.join(file).into_os_string()));
        }
        env
    }
}

/// What an adapter makes of the arguments after the program.
pub(super) struct Draft {
    /// The arguments; marks are not replaced yet.
    pub(super) args: Vec<Arg>,
    /// Whether the prompt goes through standard input.
    pub(super) by_stdin: bool,
    /// The whole prompt.
    pub(super) prompt: String,
    /// What the output will look like.
    pub(super) format: StreamFormat,
}

/// Whether a prompt must not be an argument: too long, or it would be read as a flag.
pub(super) fn unfit_as_argument(prompt: &str) -> bool {
    prompt.len() > limits::PROMPT_ARG_BYTES_MAX || prompt.starts_with('-')
}

/// Refuses a prompt mark inside code: what memory says would be run.
pub(super) fn check_marks(command: &[String]) -> Result<(), Fault> {
    if command[0].contains(PROMPT_MARK) {
        return Err(Fault::usage("`{prompt}` cannot be the program"));
    }
    for (at, program) in command.iter().enumerate() {
        let stem = super::program::stem(program);
        let Some((_, flag)) = INTERPRETERS.iter().find(|(stems, _)| stems.contains(&stem)) else {
            continue;
        };
        let is_code = |flag_arg: &String| {
            let short = flag_arg.strip_prefix('-').unwrap_or_default();
            flag_arg == "--eval" || (!short.starts_with('-') && short.contains(*flag))
        };
        let runs_mark = command[at + 1..].windows(2).any(|pair| {
            is_code(&pair[0]) && pair[1].contains(PROMPT_MARK) && !pair[1].starts_with('-')
        });
        if runs_mark {
            return Err(Fault::usage(format!(
                "`{{prompt}}` inside the code of `{stem}` would run what memory says"
            ))
            .hint(
                "read the file named by \"$HEIRLOOM_PROMPT_FILE\", or pass it as an argument: \
                 sh -c 'agent \"$1\"' sh {prompt}",
            ));
        }
    }
    Ok(())
}

/// The launch of a draft: marks replaced, the variables named.
pub(super) fn finish(head: &[String], draft: Draft, memory: &Handover) -> Result<Launch, Fault> {
    let Draft {
        args,
        by_stdin,
        prompt,
        format,
    } = draft;
    let has_mark = |arg: &Arg| {
        matches!(arg, Arg::Text(text) if text.contains(PROMPT_MARK)) || *arg == Arg::Prompt
    };
    if prompt.len() > limits::PROMPT_ARG_BYTES_MAX && args.iter().any(has_mark) {
        return Err(Fault::usage(format!(
            "the prompt has {} bytes, an argument may have {}",
            prompt.len(),
            limits::PROMPT_ARG_BYTES_MAX
        ))
        .hint("leave `{prompt}` out of the command, so that it goes another way, or ask for a smaller context"));
    }
    let replaced = args.into_iter().map(|arg| match arg {
        Arg::Text(text) => Arg::Text(text.replace(PROMPT_MARK, &prompt)),
        Arg::Prompt | Arg::PromptFile => arg,
    });
    let before = head.iter().skip(1).map(|arg| Arg::text(arg));
    let mut env = vec![(
        "HEIRLOOM_ITERATION".to_owned(),
        memory.iteration.to_string(),
    )];
    for (name, value) in [("TASK", &memory.task), ("PHASE", &memory.phase)] {
        if let Some(value) = value {
            env.push((format!("HEIRLOOM_{name}"), value.replace('\0', "\u{fffd}")));
        }
    }
    Ok(Launch {
        program: head[0].clone(),
        args: before.chain(replaced).collect(),
        stdin: by_stdin.then(|| prompt.clone().into_bytes()),
        env,
        context: memory.context.clone(),
        prompt,
        format,
    })
}

//! Command of one iteration, complete except for the folder of its files.

use super::{PROMPT_PLACEHOLDER, PromptInput};
use crate::StreamFormat;
use heirloom_model::{Fault, limits};
use std::ffi::OsString;
use std::path::Path;

/// Name of the file with the context, in the folder of the iteration's files.
pub const CONTEXT_FILE: &str = "context.md";
/// Name of the file with the whole prompt, in the folder of the iteration's files.
pub const PROMPT_FILE: &str = "prompt.md";

/// Programs that run an argument as code, and the flag before that argument.
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
    /// Literal text.
    Text(String),
    /// The whole prompt.
    Prompt,
    /// The path of [`PROMPT_FILE`].
    PromptFile,
    /// The standing instructions of people.
    Rules,
}

impl Arg {
    pub(crate) fn text(text: &str) -> Self {
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
    /// Content of standard input, which is then closed; `None` means `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Environment variables, except those with the paths of the files.
    pub env: Vec<(String, String)>,
    /// The rules and the context.
    pub context: String,
    /// The rules alone.
    pub rules: String,
    /// The whole prompt.
    pub prompt: String,
    /// Format of its output.
    pub format: StreamFormat,
}

impl Launch {
    /// Returns the files to write into a private folder before the start: name and content.
    pub fn files(&self) -> [(&'static str, &[u8]); 2] {
        [
            (CONTEXT_FILE, self.context.as_bytes()),
            (PROMPT_FILE, self.prompt.as_bytes()),
        ]
    }

    /// Returns the arguments, with the paths of files in `folder`.
    pub fn args_in(&self, folder: &Path) -> Vec<OsString> {
        let real = |arg: &Arg| match arg {
            Arg::Text(text) => OsString::from(text),
            Arg::Prompt => OsString::from(&self.prompt),
            Arg::PromptFile => folder.join(PROMPT_FILE).into_os_string(),
            Arg::Rules => OsString::from(&self.rules),
        };
        self.args.iter().map(real).collect()
    }

    /// Returns the environment variables, with the paths of files in `folder`.
    pub fn env_in(&self, folder: &Path) -> Vec<(OsString, OsString)> {
        let content = self.env.iter();
        let mut env: Vec<(OsString, OsString)> = content
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

/// Result of an adapter's planning, before placeholders are replaced.
pub(crate) struct LaunchDraft {
    /// The arguments after the program, with placeholders.
    pub(crate) args: Vec<Arg>,
    /// True if the prompt is written to standard input.
    pub(crate) uses_stdin: bool,
    /// The whole prompt.
    pub(crate) prompt: String,
    /// Format of the output.
    pub(crate) format: StreamFormat,
}

/// Returns true if a prompt cannot be an argument: it is too long or would be parsed as a flag.
pub(crate) fn is_unfit_as_argument(prompt: &str) -> bool {
    prompt.len() > limits::PROMPT_ARG_BYTES_MAX || prompt.starts_with('-')
}

/// Rejects a placeholder inside code, because text from memory would be executed.
pub(super) fn check_placeholders(command: &[String]) -> Result<(), Fault> {
    if command[0].contains(PROMPT_PLACEHOLDER) {
        return Err(Fault::usage("`{prompt}` cannot be the program"));
    }
    for (at, program) in command.iter().enumerate() {
        let stem = super::program_detection::program_stem(program);
        let Some((_, flag)) = INTERPRETERS.iter().find(|(stems, _)| stems.contains(&stem)) else {
            continue;
        };
        let is_code = |flag_arg: &String| {
            let short = flag_arg.strip_prefix('-').unwrap_or_default();
            flag_arg == "--eval" || (!short.starts_with('-') && short.contains(*flag))
        };
        let runs_mark = command[at + 1..].windows(2).any(|pair| {
            is_code(&pair[0]) && pair[1].contains(PROMPT_PLACEHOLDER) && !pair[1].starts_with('-')
        });
        if runs_mark {
            return Err(Fault::usage(format!(
                "`{{prompt}}` inside the code of `{stem}` would execute text from memory"
            ))
            .hint(
                "read the file named by \"$HEIRLOOM_PROMPT_FILE\", or pass it as an argument: \
                 sh -c 'agent \"$1\"' sh {prompt}",
            ));
        }
    }
    Ok(())
}

/// Replaces the placeholders of a draft and adds the environment variables.
pub(super) fn finish_launch(
    head: &[String],
    draft: LaunchDraft,
    input: &PromptInput,
) -> Result<Launch, Fault> {
    let LaunchDraft {
        args,
        uses_stdin,
        prompt,
        format,
    } = draft;
    let has_mark = |arg: &Arg| {
        matches!(arg, Arg::Text(text) if text.contains(PROMPT_PLACEHOLDER)) || *arg == Arg::Prompt
    };
    if prompt.len() > limits::PROMPT_ARG_BYTES_MAX && args.iter().any(has_mark) {
        return Err(Fault::usage(format!(
            "the prompt has {} bytes, an argument may have {}",
            prompt.len(),
            limits::PROMPT_ARG_BYTES_MAX
        ))
        .hint("leave `{prompt}` out of the command, so that it is passed another way, or request a smaller context"));
    }
    let replaced = args.into_iter().map(|arg| match arg {
        Arg::Text(text) => Arg::Text(text.replace(PROMPT_PLACEHOLDER, &prompt)),
        Arg::Prompt | Arg::PromptFile | Arg::Rules => arg,
    });
    let before = head.iter().skip(1).map(|arg| Arg::text(arg));
    let mut env = vec![("HEIRLOOM_ITERATION".to_owned(), input.iteration.to_string())];
    for (name, value) in [("TASK", &input.task), ("PHASE", &input.phase)] {
        if let Some(value) = value {
            env.push((format!("HEIRLOOM_{name}"), value.replace('\0', "\u{fffd}")));
        }
    }
    Ok(Launch {
        program: head[0].clone(),
        args: before.chain(replaced).collect(),
        stdin: uses_stdin.then(|| prompt.clone().into_bytes()),
        env,
        context: input.rules_and_context(),
        rules: input.rules.replace('\0', "\u{fffd}"),
        prompt,
        format,
    })
}

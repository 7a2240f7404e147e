//! Agent programs: their command lines, prompts and what they need.
//!
//! An adapter takes the command as the person typed it and what memory has to say, and returns the
//! command to start: what was typed stays, what is missing for a run without a person is added, and
//! memory goes into the *user* prompt, never into a system prompt. Nothing here starts a process.

mod aider;
mod claude;
mod codex;
mod command;
mod flags;
mod gemini;
mod launch;
mod program;
mod prompt;
mod pull;

pub use launch::{Arg, CONTEXT_FILE, Launch, PROMPT_FILE};
pub use prompt::{Handover, teach_text};
pub use pull::find_pr;

use heirloom_model::{Fault, stream::StreamFormat};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What stands for the whole prompt in the arguments of any command.
pub const PROMPT_MARK: &str = "{prompt}";

/// An agent program that Heirloom knows how to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adapter {
    /// Claude Code, `claude`.
    ClaudeCode,
    /// Codex CLI, `codex`.
    Codex,
    /// aider, `aider`.
    Aider,
    /// Gemini CLI, `gemini`.
    Gemini,
    /// Any other command.
    Command,
}

/// What is known of a program without looking at a command.
pub(crate) struct Profile {
    /// The adapter's name at the command line.
    name: &'static str,
    /// File stems of the program and of its start script.
    programs: &'static [&'static str],
    /// Packages that hold it, as launchers such as `npx` name them.
    packages: &'static [&'static str],
    /// What its output looks like when the adapter chooses.
    format: StreamFormat,
    /// Files with instructions that it reads, relative to the project's root.
    instruction_files: &'static [&'static str],
}

impl Adapter {
    /// Every adapter; the generic one is last.
    pub const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Aider,
        Self::Gemini,
        Self::Command,
    ];

    fn profile(self) -> &'static Profile {
        match self {
            Self::ClaudeCode => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Aider => &aider::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Command => &command::PROFILE,
        }
    }

    /// Its name at the command line.
    pub fn as_str(self) -> &'static str {
        self.profile().name
    }

    /// The form of the program's output when the adapter chooses it.
    ///
    /// A command that asks for another form is respected: see [`Launch::format`].
    pub fn format(self) -> StreamFormat {
        self.profile().format
    }

    /// Files in which the program looks for instructions, relative to the project's root.
    pub fn instruction_files(self) -> &'static [&'static str] {
        self.profile().instruction_files
    }

    /// The folder (aider: the file) in which the program keeps what was said in this project.
    ///
    /// `home` is the person's home folder; the place may not exist. `None` for the generic command.
    pub fn transcripts(self, home: &Path, project_root: &Path) -> Option<PathBuf> {
        match self {
            Self::ClaudeCode => Some(claude::transcripts(home, project_root)),
            Self::Codex => Some(home.join(".codex/sessions")),
            Self::Aider => Some(project_root.join(".aider.chat.history.md")),
            Self::Gemini => Some(home.join(".gemini/tmp")),
            Self::Command => None,
        }
    }

    /// The adapter for a command, by the name of its program.
    ///
    /// Looks through launchers (`npx`, `bunx`, `uvx`, `node`, `python -m`, `env`); what it does not
    /// know is the generic command.
    pub fn of_command(command: &[String]) -> Self {
        program::find(command).map_or(Self::Command, |found| found.adapter)
    }

    /// The command to start for one iteration.
    ///
    /// `command` is the program and its arguments as typed. Flags that a run without a person needs
    /// are added when they are missing and never doubled. Fails with `Usage` when the command is
    /// empty, cannot run without a person, has no prompt at all, or puts the prompt where it must
    /// not go; with `NotFound` when it names a prompt file that does not exist.
    pub fn plan(self, command: &[String], memory: &Handover) -> Result<Launch, Fault> {
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err(Fault::usage("no command to run")
                .hint("say it after `--`: heirloom run -- claude -p \"fix the tests\""));
        }
        let at = match program::find(command) {
            Some(found) if found.adapter == self => found.at,
            Some(_) | None => 0,
        };
        let (head, args) = command.split_at(at + 1);
        launch::check_marks(command)?;
        let marked = args.iter().any(|arg| arg.contains(PROMPT_MARK));
        let draft = match self {
            Self::ClaudeCode => claude::plan(args, memory, marked),
            Self::Codex => codex::plan(args, memory, marked),
            Self::Aider => aider::plan(args, memory, marked),
            Self::Gemini => gemini::plan(args, memory, marked),
            Self::Command => Ok(command::plan(args, memory, marked)),
        }?;
        if draft.prompt.is_empty() && self != Self::Command {
            return Err(
                Fault::usage(format!("{self} has nothing to do: the prompt is empty"))
                    .hint("give it a prompt of your own in the command"),
            );
        }
        launch::finish(head, draft, memory)
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Adapter {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let wanted = text.trim().to_ascii_lowercase();
        let by_name = |adapter: &Self| {
            adapter.as_str() == wanted || adapter.profile().programs.contains(&wanted.as_str())
        };
        Self::ALL.into_iter().find(by_name).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            let said = heirloom_model::text::excerpt(text, 60);
            Fault::usage(format!("`{said}` is no adapter: expected one of {known}"))
        })
    }
}

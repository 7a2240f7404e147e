//! Agent programs: command lines, prompts and output formats.
//!
//! An adapter takes the command as typed and the text from memory, and returns the command to start. Typed arguments
//! stay; flags that an unattended run needs are added. Memory goes into the *user* prompt, never into a system
//! prompt; only the rules that people wrote go into the system prompt of a program that takes them there, else to the
//! head of the user prompt. This module starts no process.

pub(crate) mod flags;
pub(crate) mod launch;
mod program_detection;
mod prompt;
mod pull_request;

pub use launch::{Arg, CONTEXT_FILE, Launch, PROMPT_FILE};
pub use prompt::{PromptInput, signal_instructions};
pub use pull_request::find_pr;

use crate::AgentProgram;
use crate::StreamFormat;
use heirloom_model::Fault;
use launch::LaunchDraft;
use std::path::Path;

/// Placeholder for the whole prompt in the arguments of any command.
pub const PROMPT_PLACEHOLDER: &str = "{prompt}";

/// Start of a program: its names, flags and prompt.
pub(crate) struct LaunchAdapter {
    /// Plans the command of one iteration from the arguments after the program; the flag is true if they contain the
    /// placeholder of the prompt.
    pub(crate) plan: fn(&[String], &PromptInput, bool) -> Result<LaunchDraft, Fault>,
    /// File stems of the program and of its start script.
    pub(crate) programs: &'static [&'static str],
    /// Packages that contain the program, as launchers such as `npx` name them.
    pub(crate) packages: &'static [&'static str],
    /// Output format that the adapter selects by default.
    pub(crate) format: StreamFormat,
    /// Instruction files that the program reads, relative to the project's root.
    pub(crate) instruction_files: &'static [&'static str],
}

impl AgentProgram {
    /// Returns the output format that the adapter selects by default.
    ///
    /// A different format in the command is kept: see [`Launch::format`].
    pub fn format(self) -> StreamFormat {
        self.row().launch.format
    }

    /// Returns the instruction files that the program reads, relative to the project's root.
    pub fn instruction_files(self) -> &'static [&'static str] {
        self.row().launch.instruction_files
    }

    /// Returns the adapter for a command, by the name of its program.
    ///
    /// Looks through launchers (`npx`, `bunx`, `uvx`, `node`, `python -m`, `env`). An unknown program gets the
    /// generic adapter.
    pub fn from_command(command: &[String]) -> Self {
        program_detection::detect_program(command).map_or(Self::Command, |found| found.program)
    }

    /// Returns the person's own prompt in a command, if the adapter knows its place.
    pub fn user_prompt(self, command: &[String], cwd: &Path) -> Option<String> {
        let at = match program_detection::detect_program(command) {
            Some(found) if found.program == self => found.at,
            Some(_) | None => 0,
        };
        let args = command.get(at + 1..)?.iter();
        let args: Vec<_> = args
            .map(|arg| arg.replace(PROMPT_PLACEHOLDER, ""))
            .collect();
        let nothing_else = PromptInput {
            cwd: cwd.to_owned(),
            ..PromptInput::default()
        };
        // A command that cannot be planned fails when it is started.
        let draft = (self.row().launch.plan)(&args, &nothing_else, false).ok()?;
        Some(draft.prompt).filter(|prompt| !prompt.trim().is_empty())
    }

    /// Builds the command of one iteration.
    ///
    /// `command` is the program and its arguments as typed. Flags that an unattended run needs are added if they are
    /// missing, never twice. Fails with `Usage` if the command is empty, cannot run unattended, has no prompt, or has
    /// the prompt in a forbidden position; with `NotFound` if it names a prompt file that does not exist.
    pub fn plan(self, command: &[String], input: &PromptInput) -> Result<Launch, Fault> {
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err(Fault::usage("no command to run")
                .hint("write it after `--`: heirloom run -- claude -p \"fix the tests\""));
        }
        let at = match program_detection::detect_program(command) {
            Some(found) if found.program == self => found.at,
            Some(_) | None => 0,
        };
        let (head, args) = command.split_at(at + 1);
        launch::check_placeholders(command)?;
        let marked = args.iter().any(|arg| arg.contains(PROMPT_PLACEHOLDER));
        let draft = (self.row().launch.plan)(args, input, marked)?;
        if draft.prompt.is_empty() && !self.executables().is_empty() {
            return Err(
                Fault::usage(format!("{self} has no task: the prompt is empty"))
                    .hint("add a prompt to the command"),
            );
        }
        launch::finish_launch(head, draft, input)
    }
}

//! Prompt of one iteration: rules, text from memory, then the person's prompt.

use std::path::PathBuf;

/// Input for the prompt of one iteration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptInput {
    /// Standing instructions of people, in their envelope; may be empty.
    pub rules: String,
    /// The context, with its own heading; may be empty.
    pub context: String,
    /// The iteration of the task, from 1.
    pub iteration: u32,
    /// The task.
    pub task: Option<String>,
    /// The phase of the task.
    pub phase: Option<String>,
    /// Instructions for writing memory (see [`signal_instructions`]); `None` leaves them out.
    pub signal_instructions: Option<String>,
    /// Working folder of the agent; file names in its command are relative to it.
    pub cwd: PathBuf,
    /// True if that folder is in a git repository.
    pub in_git: bool,
}

impl PromptInput {
    /// Builds the whole prompt: rules, context, line with the iteration, the person's prompt, signal instructions.
    ///
    /// A blank line separates the parts; empty ones are left out. NUL, which an argument cannot contain, becomes
    /// U+FFFD.
    pub fn prompt(&self, own: &str) -> String {
        self.prompt_after(&self.rules, own)
    }

    /// Builds the prompt as [`Self::prompt`] without the rules, which the program takes in another place.
    pub(crate) fn prompt_without_rules(&self, own: &str) -> String {
        self.prompt_after("", own)
    }

    fn prompt_after(&self, rules: &str, own: &str) -> String {
        let line = if self.iteration > 1 {
            format!(
                "This is iteration {}. Continue from where you left off.",
                self.iteration
            )
        } else {
            String::new()
        };
        let teach = self.signal_instructions.as_deref().unwrap_or_default();
        join_parts(&[rules, &self.context, &line, own, teach])
    }

    /// Returns what memory gives: rules and context.
    pub(super) fn rules_and_context(&self) -> String {
        match self.rules.is_empty() {
            true => self.context.clone(),
            false => join_parts(&[&self.rules, &self.context]),
        }
    }
}

fn join_parts(parts: &[&str]) -> String {
    let parts = (parts.iter()).map(|part| part.trim_end().trim_start_matches(['\r', '\n']));
    let text: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    text.join("\n\n").replace('\0', "\u{fffd}")
}

/// Returns a short paragraph that explains how to pass information to the next iteration.
///
/// It is one line that begins with a word, so it is not a signal itself, even if the agent repeats it.
pub fn signal_instructions(prefix: &str) -> String {
    format!(
        "To hand something to the next iteration, print a line of its own that begins with \
         `{prefix}:`, then a verb and text. Verbs: KEY_FACT fact, DECISION choice BECAUSE reason, \
         STEP_DONE step, STEP_PENDING step, FILE_MODIFIED path, ERROR what failed, ERROR_RESOLVED \
         the same words. Example in a sentence: `{prefix}: KEY_FACT tests need Redis`. Print only \
         what is new and worth knowing later."
    )
}

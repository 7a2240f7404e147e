//! The prompt of one iteration: what memory says, then what the person says.

use std::path::PathBuf;

/// What an iteration hands to its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handover {
    /// The context, with its own heading; may be empty.
    pub context: String,
    /// The iteration of the task, from 1.
    pub iteration: u32,
    /// The task.
    pub task: Option<String>,
    /// The phase of the task.
    pub phase: Option<String>,
    /// How to write memory (see [`teach_text`]); `None` when it shall not be said.
    pub teach: Option<String>,
    /// The folder in which the agent is started; file names in its command are relative to it.
    pub cwd: PathBuf,
    /// Whether that folder is in a git repository.
    pub in_git: bool,
}

impl Handover {
    /// The whole prompt around the person's own: context, the iteration's line, own prompt, teaching.
    ///
    /// Parts are separated by a blank line; empty ones are left out. A NUL, which no argument can
    /// hold, becomes U+FFFD.
    pub fn prompt(&self, own: &str) -> String {
        let line = if self.iteration > 1 {
            format!(
                "This is iteration {}. Continue from where you left off.",
                self.iteration
            )
        } else {
            String::new()
        };
        let teach = self.teach.as_deref().unwrap_or_default();
        let parts = [self.context.as_str(), &line, own, teach]
            .map(|part| part.trim_end().trim_start_matches(['\r', '\n']));
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        said.join("\n\n").replace('\0', "\u{fffd}")
    }
}

/// A short paragraph that says how to hand something to the next iteration.
///
/// It is one line that begins with a word, so it is no signal itself, even when the agent repeats it.
pub fn teach_text(prefix: &str) -> String {
    format!(
        "To hand something to the next iteration, print a line of its own that begins with \
         `{prefix}:`, then a verb and text. Verbs: KEY_FACT fact, DECISION choice BECAUSE reason, \
         STEP_DONE step, STEP_PENDING step, FILE_MODIFIED path, ERROR what failed, ERROR_RESOLVED \
         the same words. Example in a sentence: `{prefix}: KEY_FACT tests need Redis`. Print only \
         what is new and worth knowing later."
    )
}

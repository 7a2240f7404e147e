//! Transcripts: files in which agent programs keep conversations, parsed into events.
//!
//! A file is read in two passes, line by line: a [`SupersededLineScan`] finds the lines of abandoned branches, a
//! [`TranscriptReader`] emits the events of the others. Unknown lines and fields are skipped; no input is an error.

mod file_edits;
mod injected_text;
mod patch;
mod plan_items;
mod preview;
pub(crate) mod recorded_commands;
pub(crate) mod transcript_format;
mod transcript_lines;
pub(crate) mod transcript_reader;

pub use injected_text::without_injected_text;
pub(crate) use patch::patched_files;
pub(crate) use plan_items::{item_text, plan_items};
pub use preview::{call_line, preview};
pub use transcript_format::{
    ConversationOrigin, TranscriptFormat, TranscriptHeader, is_read_only_tool,
};
pub use transcript_lines::{TranscriptLine, TranscriptLines};
pub use transcript_reader::{HeaderReader, SupersededLineScan, TranscriptReader};

use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;

/// An event of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEvent {
    /// Identifier of the event, stable between reads, and in copies of the conversation if the program copies its own
    /// identifiers.
    pub id: String,
    /// Time of the event, if the line has one.
    pub at: Option<Timestamp>,
    /// The subagent that caused the event; `None` for the main agent.
    pub agent: Option<String>,
    /// Author of the words in the role of the user.
    pub author: TurnAuthor,
    /// The content of the event.
    pub body: EventBody,
}

/// Author of the words in the role of the user, as far as the program records it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TurnAuthor {
    /// A person at the program.
    #[default]
    Person,
    /// A script, a channel, another agent or a command's template. The words are stored, and set no rule of a person.
    Other,
}

impl TurnAuthor {
    /// Returns the author of a line in a conversation: that of the conversation, unless the line itself has another one.
    #[must_use]
    pub fn or(self, conversation: Self) -> Self {
        match self {
            Self::Person => conversation,
            Self::Other => Self::Other,
        }
    }
}

/// Content of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    /// Start of another conversation in the same file, with its name.
    ConversationStart(String),
    /// A prompt of a person, or of the agent that started a subagent.
    Prompt(String),
    /// A prompt of a person who went back to an earlier message: no part of the conversation any more, but their words.
    AbandonedPrompt(String),
    /// Text of the model.
    AssistantText(String),
    /// Summary with which the program replaced earlier turns.
    Summary(String),
    /// A tool call.
    Call {
        /// Id that links the call to its result.
        call: String,
        /// Name of the tool.
        tool: String,
        /// Purpose of the call.
        action: ToolAction,
    },
    /// A tool result.
    Result {
        /// Id that links the result to its call.
        call: String,
        /// Outcome, as far as the program records it.
        outcome: ToolOutcome,
        /// Output of the tool.
        text: String,
    },
    /// Path of a file that changed without a recorded call.
    FileChanged(String),
    /// Tokens of one answer.
    TokenUsage(Usage),
}

/// Purpose of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAction {
    /// Runs this command.
    Command(String),
    /// Changes these files.
    Edit(Vec<FileEdit>),
    /// Replaces the agent's plan or to-do list by these items.
    Plan(Vec<PlanItem>),
    /// Any other purpose: the input on one line.
    Other(String),
}

/// Change of one file by a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileEdit {
    /// Path as the call names it.
    pub path: String,
    /// Removed text, as far as the call shows it and at most `TRANSCRIPT_EDIT_CHARS_MAX`.
    pub removed: String,
    /// Added text, at most `TRANSCRIPT_EDIT_CHARS_MAX`.
    pub added: String,
}

/// Item of a plan or to-do list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanItem {
    /// Text of the item.
    pub text: String,
    /// True if it is done.
    pub is_done: bool,
}

/// Outcome of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// The tool succeeded.
    Succeeded,
    /// The tool failed.
    Failed,
    /// The call was denied or interrupted; this reveals nothing about the command.
    Rejected,
}

/// Callback that receives the reader's events.
pub(crate) type EventSink<'o> = &'o mut dyn FnMut(TranscriptEvent);

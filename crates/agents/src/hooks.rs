//! Hooks of agent programs: parsing of events and rendering of answers.
//!
//! Each program has its own event format; all are parsed into [`HookEvent`], and answers are rendered as the JSON
//! that the program expects. No input is an error: unreadable fields count as absent.

mod agent_guide;
mod answer;
pub(crate) mod answer_fields;
mod envelope;
mod event;
mod installed_command;
pub(crate) mod json_members;
pub(crate) mod protocol;
pub(crate) mod tool_use;
pub(crate) mod transcript_messages;

pub use agent_guide::{LessonChannel, lesson_request, teaching_paragraph};
pub use answer::{HookAnswer, render_answer};
pub use envelope::{
    ENVELOPE_CHARS, REMINDER_CHARS, without_envelopes, wrap_for_hook, wrap_in_envelope,
    wrap_reminder, wrap_rules_in_envelope,
};
pub use event::{HookEvent, read_event};
pub use installed_command::PLUGIN_WORD;
pub use protocol::{HookEventKind, HookProtocol, HookSpec};
pub use tool_use::{ToolUse, shorten_texts};
pub use transcript_messages::{agent_messages, complete_lines};

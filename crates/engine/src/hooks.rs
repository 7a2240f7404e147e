//! Hooks of agent programs: what an event says, and how an answer to it looks.
//!
//! Every agent program spells its events in its own way; here they become one [`HookEvent`], and what is to be said
//! becomes the JSON that the program expects. No input is an error: what cannot be read is not there.

mod answer;
mod event;
mod fence;
mod host;
mod json;
mod settings;
mod tool;
mod transcript;

pub use answer::{Answer, render};
pub use event::{HookEvent, read_event};
pub use fence::{FENCE_CHARS, fence, fenced, without_fences};
pub use host::{Host, Moment, Wanted};
pub use json::Mistake;
pub use settings::{installed, is_ours, with_entries, without_entries};
pub use tool::{ToolUse, shortened};
pub use transcript::{said_in, whole_lines};

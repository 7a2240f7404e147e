//! Places in a conversation, from which the evidence of a candidate is made.

use crate::Evidence;
use crate::bounded_text::bounded;
use heirloom_agents::transcripts::TranscriptEvent;
use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};

/// Greatest number of bytes of an event id.
const EVENT_BYTES_MAX: usize = 100;
/// Greatest number of characters of an evidence line.
const LINE_CHARS_MAX: usize = 200;

/// Returns the id of a call in the form that states keep.
pub(crate) fn call_name(call: &str) -> String {
    bounded(call, EVENT_BYTES_MAX)
}

/// Place of an event, as the state of a source keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EventPlace {
    event: String,
    /// Number of the event in the conversation.
    pub(crate) position: u64,
    /// Time of the event.
    pub(crate) at: Option<Timestamp>,
    /// Subagent that caused the event.
    pub(crate) agent: Option<String>,
}

impl EventPlace {
    /// Returns the place of an event.
    pub(crate) fn of(position: u64, event: &TranscriptEvent) -> Self {
        let clip = |name: &str| bounded(name, EVENT_BYTES_MAX);
        Self {
            event: clip(&event.id),
            position,
            at: event.at,
            agent: event.agent.as_deref().map(clip),
        }
    }

    /// Returns the evidence that a line at this place is.
    pub(crate) fn evidence(&self, line: &str) -> Evidence {
        let end = line.floor_char_boundary(LINE_CHARS_MAX * 8);
        let head = line.get(..end).unwrap_or_default();
        Evidence {
            event: self.event.clone(),
            position: self.position,
            line: text::excerpt(head, LINE_CHARS_MAX),
        }
    }
}

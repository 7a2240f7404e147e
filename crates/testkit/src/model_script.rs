//! Script of the model service: turns, faults, and their order.

use std::time::Duration;

use serde_json::Value;

use crate::request::RecordedRequest;

/// Text of every answer after a script's last turn.
pub const EXHAUSTED_TEXT: &str = "Nothing is left to do.";

/// Text of every answer to a side request (a title, a quota check).
pub const SIDE_TEXT: &str = "Scripted side answer";

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedToolCall {
    /// The tool's name, as the agent program offers it.
    pub name: String,
    /// The tool's arguments: a JSON object.
    pub input: Value,
}

/// One answer of the model: text, then tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// The text, possibly empty.
    pub text: String,
    /// The calls, in order; empty ends the agent's turn.
    pub tool_calls: Vec<ScriptedToolCall>,
}

impl Turn {
    /// Creates a turn of text alone.
    pub fn text(text: impl Into<String>) -> Turn {
        Turn {
            text: text.into(),
            tool_calls: Vec::new(),
        }
    }

    /// Creates a turn of one tool call.
    pub fn call(name: impl Into<String>, input: Value) -> Turn {
        Turn::default().and_call(name, input)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, input: Value) -> Turn {
        self.tool_calls.push(ScriptedToolCall {
            name: name.into(),
            input,
        });
        self
    }
}

/// Reply to one main request: an answer, or a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The turn, in the request's own wire format.
    Turn(Turn),
    /// An error status (429, 500, 529, …) with the API's own error body.
    Status(u16),
    /// This status with this header and this body, whatever the request's format is.
    Raw(u16, (&'static str, String), String),
    /// The first half of the turn, then a closed connection.
    Cut(Turn),
    /// The first half of the turn, then silence until the client gives up.
    Stall(Turn),
    /// The turn after a pause.
    Delayed(Turn, Duration),
    /// Status 200 with a body (or an event) that is not JSON.
    InvalidJson,
}

impl From<Turn> for Reply {
    fn from(turn: Turn) -> Reply {
        Reply::Turn(turn)
    }
}

type ReplyFunction = Box<dyn FnMut(&RecordedRequest) -> Reply + Send>;

/// Script of a [`crate::ModelService`]: selects the reply to each main request.
///
/// Side requests never reach it.
pub struct Script {
    next: ReplyFunction,
}

impl Script {
    /// Creates a script with the replies in order, then [`EXHAUSTED_TEXT`] for ever.
    pub fn replies<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Script {
        let replies: Vec<Reply> = replies.into_iter().map(Into::into).collect();
        let mut replies = replies.into_iter();
        Script::function(move |_| {
            replies
                .next()
                .unwrap_or_else(|| Turn::text(EXHAUSTED_TEXT).into())
        })
    }

    /// Creates a script that computes each reply from the request.
    pub fn function<R: Into<Reply>>(
        mut next: impl FnMut(&RecordedRequest) -> R + Send + 'static,
    ) -> Script {
        Script {
            next: Box::new(move |request| next(request).into()),
        }
    }

    /// Returns the reply to `request`.
    pub(crate) fn next(&mut self, request: &RecordedRequest) -> Reply {
        (self.next)(request)
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

impl<R: Into<Reply>> From<Vec<R>> for Script {
    fn from(replies: Vec<R>) -> Script {
        Script::replies(replies)
    }
}

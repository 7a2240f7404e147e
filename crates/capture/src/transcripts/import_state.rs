//! Import state of a transcript, stored with its session.

use heirloom_agents::failures::{Failure, Subject};
use heirloom_engine::TRANSCRIPT;
use heirloom_model::event_stream::Usage;
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, Session, Timestamp, limits, text};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Bytes at the end of the last line that identify a file.
pub(super) const END_BYTES: usize = 128;

/// Failure that is not resolved yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenFailure {
    /// Id of the failed event.
    pub(super) id: String,
    /// Time of the failure.
    pub(super) at: Timestamp,
    /// The command, or the error from a signal.
    pub(super) what: FailureCause,
    /// Subagent in which it occurred.
    pub(super) agent: Option<String>,
}

/// Cause of a failure.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FailureCause {
    /// A command failed.
    Command(Failure),
    /// The agent reported an error in a signal.
    Signalled(String),
}

/// Progress of a conversation's import.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct State {
    /// Bytes of the file that were read.
    pub(super) offset: u64,
    /// Offset of the last line, and the fingerprint of its end.
    pub(super) last: Option<(u64, String)>,
    /// A message id of each import; all are stored unless an import was reverted.
    pub(super) marks: Vec<RecordId>,
    /// Open failures.
    pub(super) open: VecDeque<OpenFailure>,
    /// Token usage.
    pub(super) usage: Usage,
}

impl State {
    /// Reads the state from a session; the initial one if it is missing or invalid.
    pub(super) fn from_session(session: &Session) -> Self {
        let read = |value: &Value| {
            let last = value["last"].as_array().and_then(|last| {
                let end = last.get(1)?.as_str()?.to_owned();
                Some((last.first()?.as_u64()?, end))
            });
            let ids = value["marks"].as_array()?.iter();
            let marks = ids.filter_map(|id| id.as_str()?.parse().ok()).collect();
            let open = value["open"]
                .as_array()?
                .iter()
                .filter_map(open_of)
                .collect();
            let tokens = |name: &str| value["usage"][name].as_u64().unwrap_or(0);
            Some(Self {
                offset: value["offset"].as_u64()?,
                last,
                marks,
                open,
                usage: Usage {
                    input: tokens("input"),
                    cached: tokens("cached"),
                    output: tokens("output"),
                },
            })
        };
        session
            .attrs
            .get(TRANSCRIPT)
            .and_then(read)
            .unwrap_or_default()
    }

    /// Writes the state to the attributes of a session.
    pub(super) fn put(&self, attrs: &mut Attrs) {
        let Usage {
            input,
            cached,
            output,
        } = self.usage;
        let marks: Vec<_> = self.marks.iter().map(ToString::to_string).collect();
        let open: Vec<_> = self.open.iter().map(json_of).collect();
        let value = json!({
            "offset": self.offset,
            "last": self.last.as_ref().map(|(at, end)| json!([at, end])),
            "marks": marks,
            "open": open,
            "usage": {"input": input, "cached": cached, "output": output},
        });
        attrs.insert(TRANSCRIPT.to_owned(), value);
    }

    /// Adds a message id of the current import.
    pub(super) fn mark(&mut self, id: RecordId) {
        if self.marks.len() >= limits::TRANSCRIPT_MARKS_MAX {
            // The first and the newest ids are the most useful.
            self.marks.remove(1);
        }
        self.marks.push(id);
    }

    /// Adds an open failure; drops the oldest beyond the limit.
    pub(super) fn open(&mut self, open: OpenFailure) {
        self.open.retain(|known| known.what != open.what);
        if self.open.len() >= limits::TRANSCRIPT_FAILURES_MAX {
            self.open.pop_front();
        }
        self.open.push_back(open);
    }
}

fn json_of(open: &OpenFailure) -> Value {
    let mut value = json!({
        "id": open.id,
        "at": open.at.to_string(),
        "agent": open.agent,
    });
    match &open.what {
        FailureCause::Command(failure) => {
            value["command"] = json!(failure.command);
            value["error"] = json!(failure.error);
            value["prefix"] = json!(failure.prefix);
        }
        FailureCause::Signalled(text) => value["said"] = json!(text),
    }
    value
}

fn open_of(value: &Value) -> Option<OpenFailure> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let what = match text("said") {
        Some(text) => FailureCause::Signalled(text),
        None => {
            let command = text("command")?;
            let prefix = text("prefix");
            FailureCause::Command(Failure {
                prefix: prefix.unwrap_or_else(|| Subject::Command(command.clone()).prefix()),
                error: text("error")?,
                command,
            })
        }
    };
    Some(OpenFailure {
        id: text("id")?,
        at: value["at"].as_str()?.parse().ok()?,
        what,
        agent: text("agent"),
    })
}

/// Returns a fingerprint of the end of a line.
pub(super) fn end_of(line: &[u8]) -> String {
    let from = line.len().saturating_sub(END_BYTES);
    text::hash16(&String::from_utf8_lossy(&line[from..]))
}

#[cfg(test)]
mod stored_form_tests;

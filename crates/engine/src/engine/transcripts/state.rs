//! How far a conversation was taken in, and what of it waits: kept with its session.

use crate::engine::sessions::TRANSCRIPT;
use crate::failures::{Failure, Subject};
use heirloom_model::record::Attrs;
use heirloom_model::stream::Usage;
use heirloom_model::{RecordId, Session, Timestamp, limits};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Something that went wrong and waits for what works.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Open {
    /// What names it.
    pub(super) id: String,
    /// When it happened.
    pub(super) at: Timestamp,
    /// The command, or an error that the agent told.
    pub(super) what: Wrong,
    /// The subagent that it happened to.
    pub(super) agent: Option<String>,
    /// Files that were changed since.
    pub(super) changed: Vec<String>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wrong {
    /// A command.
    Command(Failure),
    /// What the agent said in a signal.
    Signalled(String),
}

/// How far a conversation was taken in.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct State {
    /// Bytes of the file that were read.
    pub(super) offset: u64,
    /// Where the last line of them begins, and its end.
    pub(super) last: Option<(u64, String)>,
    /// A message of each import: they are here as long as it was not taken back.
    pub(super) marks: Vec<RecordId>,
    /// What waits.
    pub(super) open: VecDeque<Open>,
    /// Tokens.
    pub(super) usage: Usage,
}

impl State {
    /// What a session says of itself; the beginning if it says nothing, or something else.
    pub(super) fn of(session: &Session) -> Self {
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

    /// Writes it among the attributes of a session.
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

    /// Remembers that this message came with the present import.
    pub(super) fn mark(&mut self, id: RecordId) {
        if self.marks.len() >= limits::TRANSCRIPT_MARKS_MAX {
            // The first and the newest say most.
            self.marks.remove(1);
        }
        self.marks.push(id);
    }

    /// Adds something that went wrong; the oldest gives way.
    pub(super) fn open(&mut self, open: Open) {
        self.open.retain(|known| known.what != open.what);
        if self.open.len() >= limits::TRANSCRIPT_FAILURES_MAX {
            self.open.pop_front();
        }
        self.open.push_back(open);
    }
}

fn json_of(open: &Open) -> Value {
    let mut value = json!({
        "id": open.id,
        "at": open.at.to_string(),
        "agent": open.agent,
        "changed": open.changed,
    });
    match &open.what {
        Wrong::Command(failure) => {
            value["command"] = json!(failure.command);
            value["error"] = json!(failure.error);
            value["prefix"] = json!(failure.prefix);
        }
        Wrong::Signalled(said) => value["said"] = json!(said),
    }
    value
}

fn open_of(value: &Value) -> Option<Open> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let what = match text("said") {
        Some(said) => Wrong::Signalled(said),
        None => {
            let command = text("command")?;
            let prefix = text("prefix");
            Wrong::Command(Failure {
                prefix: prefix.unwrap_or_else(|| Subject::Command(command.clone()).prefix()),
                error: text("error")?,
                command,
            })
        }
    };
    let changed = value["changed"].as_array().into_iter().flatten();
    Some(Open {
        id: text("id")?,
        at: value["at"].as_str()?.parse().ok()?,
        what,
        agent: text("agent"),
        changed: changed
            .filter_map(|file| file.as_str().map(str::to_owned))
            .collect(),
    })
}

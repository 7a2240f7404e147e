//! Transcripts of opencode: one object with all messages, as `opencode export` prints it.
//!
//! opencode itself keeps conversations in a database. The installed plugin writes each one as such a file while the hook
//! that ends the session reads it.

mod tool_actions;

use super::token_usage::parse_usage;
use crate::json_fields::{
    Field, as_count, as_integer, as_keyword, as_nonblank_string, as_object, as_string,
    for_each_element, is_true, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, NoScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{EventBody, EventSink, ToolOutcome, TranscriptHeader};
use crate::{AgentProgram, ProgramFolder};
use heirloom_model::Timestamp;
use serde::Deserialize;
use tool_actions::tool_action;

/// Beginnings of the error of a denied or interrupted tool call.
const REJECTED: [&str; 4] = [
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "Tool execution aborted",
    "The user dismissed",
];

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    folders: &[ProgramFolder {
        variable: Some("XDG_DATA_HOME"),
        below_home: ".local/share",
        inside: "opencode/heirloom",
    }],
    copy_folder_prefix: Some("session-end-"),
    read_only_tools: &[
        "read",
        "glob",
        "grep",
        "list",
        "skill",
        "todoread",
        "todowrite",
        "webfetch",
    ],
    ..TranscriptFormat::new(
        read_header,
        || Box::new(NoScan(Opencode)),
        |_, name| name.starts_with("ses_") && name.ends_with(".json"),
    )
};

#[derive(Deserialize)]
struct Export<'a> {
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    messages: Field<'a>,
}

#[derive(Deserialize)]
struct SessionInfo<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "parentID")]
    parent: Field<'a>,
    #[serde(borrow)]
    directory: Field<'a>,
    #[serde(borrow)]
    time: Field<'a>,
    #[serde(borrow)]
    revert: Field<'a>,
}

#[derive(Deserialize)]
struct Revert<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Times<'a> {
    #[serde(borrow)]
    created: Field<'a>,
    #[serde(borrow)]
    start: Field<'a>,
    #[serde(borrow)]
    end: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    parts: Field<'a>,
}

#[derive(Deserialize)]
struct MessageInfo<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    time: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    tokens: Field<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    synthetic: Field<'a>,
    #[serde(borrow)]
    ignored: Field<'a>,
    #[serde(borrow)]
    time: Field<'a>,
    #[serde(borrow, rename = "callID")]
    call: Field<'a>,
    #[serde(borrow)]
    tool: Field<'a>,
    #[serde(borrow)]
    state: Field<'a>,
}

#[derive(Deserialize)]
struct ToolState<'a> {
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    metadata: Field<'a>,
    #[serde(borrow)]
    time: Field<'a>,
}

#[derive(Deserialize)]
struct ToolMetadata<'a> {
    #[serde(borrow)]
    exit: Field<'a>,
}

/// Returns the time in milliseconds in a field.
fn as_time(field: Field<'_>) -> Option<Timestamp> {
    let milliseconds = i64::try_from(as_count(field)).ok().filter(|ms| *ms > 0)?;
    Timestamp::from_millisecond(milliseconds).ok()
}

/// Reads the header of an export.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(export) = parse_object::<Export<'_>>(text) else {
        return false;
    };
    let Some(info) = as_object::<SessionInfo<'_>>(export.info) else {
        return false;
    };
    if export.messages.is_none() {
        return false;
    }
    head.session = as_nonblank_string(info.id);
    head.folder = as_nonblank_string(info.directory);
    // The conversation of a subagent is a session.
    head.agent = head.session.clone().filter(|_| info.parent.is_some());
    let time = as_object::<Times<'_>>(info.time);
    head.began = time.and_then(|time| as_time(time.created));
    true
}

/// Event parser of an export.
#[derive(Debug)]
struct Opencode;

impl EventReader for Opencode {
    fn read_line(&mut self, _at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        let export: Export<'_> = parse_object(text).ok()?;
        let info = as_object::<SessionInfo<'_>>(export.info)?;
        let revert = as_object::<Revert<'_>>(info.revert);
        let reverted = revert.map_or("", |revert| as_keyword(revert.message));
        let mut is_reverted = false;
        for_each_element(export.messages, &mut |raw| {
            let message = as_object::<Message<'_>>(Some(raw));
            let Some(message) = message else { return };
            let Some(info) = as_object::<MessageInfo<'_>>(message.info) else {
                return;
            };
            // Messages after a revert stay until the next prompt.
            is_reverted |= !reverted.is_empty() && as_keyword(info.id) == reverted;
            if !is_reverted {
                emit_message(&info, message.parts, out);
            }
        });
        Some(())
    }
}

fn emit_message(info: &MessageInfo<'_>, parts: Field<'_>, out: EventSink<'_>) {
    let id = as_nonblank_string(info.id).unwrap_or_default();
    let time = as_object::<Times<'_>>(info.time);
    let at = time.and_then(|time| as_time(time.created));
    match as_keyword(info.role) {
        "user" => {
            let mut texts: Vec<String> = Vec::new();
            for_each_element(parts, &mut |raw| {
                if let Some(part) = as_object::<Part<'_>>(Some(raw))
                    && as_keyword(part.kind) == "text"
                    && !is_true(part.synthetic)
                    && !is_true(part.ignored)
                {
                    texts.extend(as_nonblank_string(part.text));
                }
            });
            let words = AgentProgram::Opencode
                .person_text(&texts.join("\n"))
                .into_owned();
            if !words.trim().is_empty() {
                out(main_agent_event(id, at, EventBody::Prompt(words)));
            }
        }
        "assistant" => {
            let is_summary = is_true(info.summary);
            for_each_element(parts, &mut |raw| {
                if let Some(part) = as_object::<Part<'_>>(Some(raw)) {
                    emit_part(&part, at, is_summary, out);
                }
            });
            if let Some(usage) = parse_usage(info.tokens) {
                let event = EventBody::TokenUsage(usage);
                out(main_agent_event(format!("usage {id}"), at, event));
            }
        }
        _ => {}
    }
}

fn emit_part(part: &Part<'_>, at: Option<Timestamp>, is_summary: bool, out: EventSink<'_>) {
    let id = as_nonblank_string(part.id).unwrap_or_default();
    match as_keyword(part.kind) {
        "text" => {
            let time = as_object::<Times<'_>>(part.time);
            let at = time.and_then(|time| as_time(time.start)).or(at);
            if let Some(text) = as_nonblank_string(part.text) {
                let event = match is_summary {
                    true => EventBody::Summary(text),
                    false => EventBody::AssistantText(text),
                };
                out(main_agent_event(id, at, event));
            }
        }
        "tool" => {
            if let Some(state) = as_object::<ToolState<'_>>(part.state) {
                emit_tool(&id, part, &state, at, out);
            }
        }
        _ => {}
    }
}

fn emit_tool(
    id: &str,
    part: &Part<'_>,
    state: &ToolState<'_>,
    at: Option<Timestamp>,
    out: EventSink<'_>,
) {
    // Ids of calls are unique in one answer only.
    let call = format!("{id} {}", as_keyword(part.call));
    let tool = as_string(part.tool).unwrap_or_default();
    let time = as_object::<Times<'_>>(state.time);
    let (start, end) = time.map_or((None, None), |time| {
        (as_time(time.start), as_time(time.end))
    });
    let action = tool_action(&tool, state.input);
    let event = EventBody::Call {
        call: call.clone(),
        tool,
        action,
    };
    out(main_agent_event(format!("call {id}"), start.or(at), event));
    let metadata = as_object::<ToolMetadata<'_>>(state.metadata);
    let exit = metadata.and_then(|metadata| as_integer(metadata.exit));
    let (outcome, text) = match as_keyword(state.status) {
        "completed" if exit.is_some_and(|code| code != 0) => (ToolOutcome::Failed, state.output),
        "completed" => (ToolOutcome::Succeeded, state.output),
        "error" => (ToolOutcome::Failed, state.error),
        // The call was still running when the file was written.
        _ => return,
    };
    let text = as_string(text).unwrap_or_default();
    let outcome = match REJECTED.iter().any(|start| text.starts_with(start)) {
        true => ToolOutcome::Rejected,
        false => outcome,
    };
    let event = EventBody::Result {
        call,
        outcome,
        text,
    };
    out(main_agent_event(format!("result {id}"), end.or(at), event));
}

#[cfg(test)]
mod tests;

//! opencode `run --format json`.

use crate::json_fields::{
    Field, as_integer, as_keyword, as_nonblank_string, as_object, as_string, parse_object,
};
use crate::streams::dialect::{Dialect, EventSink, SessionIdTracker, StreamDialect, add_usage};
use crate::streams::format_detection::EventLine;
use crate::streams::tool_events::{tool_call, tool_result};
use heirloom_model::event_stream::{StreamEvent, ToolAction, Usage};
use serde::Deserialize;

/// The event stream.
pub(crate) const STREAM: StreamDialect = StreamDialect {
    name: "opencode-json",
    is_event,
    start: || Box::<Opencode>::default(),
};

/// Returns true for a line of this stream.
fn is_event(line: &EventLine<'_>) -> bool {
    let has_body = match line.kind() {
        "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" => line.has_object("part"),
        "error" => line.has_object("error"),
        _ => false,
    };
    has_body && line.has("sessionID")
}

/// Parser state of one opencode stream.
#[derive(Debug, Default)]
struct Opencode {
    session: SessionIdTracker,
    total_usage: Usage,
}

#[derive(Deserialize)]
struct OpencodeEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow, rename = "sessionID")]
    session: Field<'a>,
    #[serde(borrow)]
    part: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
}

#[derive(Deserialize)]
struct EventPart<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    tool: Field<'a>,
    #[serde(borrow)]
    state: Field<'a>,
    #[serde(borrow)]
    reason: Field<'a>,
    #[serde(borrow)]
    tokens: Field<'a>,
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
    metadata: Field<'a>,
}

#[derive(Deserialize)]
struct StreamToolInput<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow, rename = "filePath")]
    file_path: Field<'a>,
}

#[derive(Deserialize)]
struct ToolMetadata<'a> {
    #[serde(borrow)]
    exit: Field<'a>,
}

#[derive(Deserialize)]
struct OpencodeError<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
}

#[derive(Deserialize)]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

impl Dialect for Opencode {
    fn parse_line(
        &mut self,
        text: &str,
        number: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error> {
        let line: OpencodeEvent<'_> = parse_object(text)?;
        let kind = as_keyword(line.kind);
        if matches!(
            kind,
            "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" | "error"
        ) {
            self.session.emit_if_new(line.session, out);
        }
        let part = as_object::<EventPart<'_>>(line.part);
        match (kind, part) {
            ("text", Some(part)) => {
                let text = as_string(part.text);
                text.into_iter()
                    .for_each(|text| out(StreamEvent::Text { text, line: number }));
            }
            ("tool_use", Some(part)) => emit_tool(&part, out),
            ("step_finish", Some(part)) => {
                if let Some(usage) = super::token_usage::parse_usage(part.tokens) {
                    self.total_usage = add_usage(self.total_usage, usage);
                    out(StreamEvent::Usage(self.total_usage));
                }
                // After a step that called tools another one follows.
                if !matches!(as_keyword(part.reason), "tool-calls" | "") {
                    out(StreamEvent::Finished { failed: false });
                }
            }
            ("error", _) => {
                let failure = as_object::<OpencodeError<'_>>(line.error);
                let message = failure.and_then(|failure| {
                    let data = as_object::<ErrorData<'_>>(failure.data);
                    let message = data.and_then(|data| as_string(data.message));
                    message.or_else(|| as_string(failure.name))
                });
                message
                    .into_iter()
                    .for_each(|message| out(StreamEvent::Error(message)));
                out(StreamEvent::Finished { failed: true });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Emits a tool call and its result, which arrive in one event.
fn emit_tool(part: &EventPart<'_>, out: EventSink<'_>) {
    let Some(state) = as_object::<ToolState<'_>>(part.state) else {
        return;
    };
    let input = state.input.map_or("", |raw| raw.get());
    let name = as_string(part.tool).unwrap_or_default();
    let action = action_of(&name, state.input);
    out(tool_call(name, input));
    let metadata = as_object::<ToolMetadata<'_>>(state.metadata);
    let exit = metadata.and_then(|metadata| as_integer(metadata.exit));
    let failed = as_keyword(state.status) != "completed" || exit.is_some_and(|code| code != 0);
    out(tool_result(failed, action, || {
        as_string(state.output).unwrap_or_default()
    }));
}

/// Returns the action of a tool call; `None` if it neither runs a command nor changes a file.
fn action_of(tool: &str, input: Field<'_>) -> Option<ToolAction> {
    let input = as_object::<StreamToolInput<'_>>(input)?;
    let action = match tool {
        "bash" => ToolAction {
            command: Some(as_nonblank_string(input.command)?),
            ..ToolAction::default()
        },
        "edit" | "write" => ToolAction {
            files: vec![as_nonblank_string(input.file_path)?],
            ..ToolAction::default()
        },
        _ => return None,
    };
    Some(action)
}

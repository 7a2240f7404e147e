//! Copilot CLI `--output-format json`.

use super::hooks::{clean_output, exit_code_line};
use crate::json_fields::{
    Field, as_integer, as_keyword, as_nonblank_string, as_object, as_string, for_each_element,
    is_true, parse_object,
};
use crate::streams::dialect::{Dialect, EventSink, SessionIdTracker, StreamDialect};
use crate::streams::format_detection::EventLine;
use crate::streams::tool_events::{AwaitedActions, tool_call, tool_result};
use heirloom_model::event_stream::{StreamEvent, ToolAction};
use serde::Deserialize;

/// The event stream.
pub(crate) const STREAM: StreamDialect = StreamDialect {
    name: "copilot-json",
    is_event,
    start: || Box::<Copilot>::default(),
};

/// Returns true for a line of this stream. Stored conversations have the same events, with an empty `parentId` in the
/// first line only.
fn is_event(line: &EventLine<'_>) -> bool {
    let is_known = matches!(
        line.kind(),
        "user.message"
            | "assistant.turn_start"
            | "assistant.message"
            | "assistant.message_delta"
            | "tool.execution_start"
            | "tool.execution_complete"
            | "session.error"
            | "session.skills_loaded"
            | "session.tools_updated"
            | "session.mcp_servers_loaded"
    );
    is_known && line.has_object("data") && line.has("parentId")
}

/// Parser state of one Copilot CLI stream.
#[derive(Debug, Default)]
struct Copilot {
    session: SessionIdTracker,
    awaited: AwaitedActions,
}

#[derive(Deserialize)]
struct CopilotEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    session: Field<'a>,
    #[serde(borrow, rename = "exitCode")]
    exit_code: Field<'a>,
}

#[derive(Deserialize)]
struct StreamData<'a> {
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow, rename = "parentToolCallId")]
    parent: Field<'a>,
    #[serde(borrow, rename = "toolRequests")]
    requests: Field<'a>,
    #[serde(borrow, rename = "toolCallId")]
    call: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    success: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow, rename = "shellExecution")]
    shell: Field<'a>,
    #[serde(borrow, rename = "exitCode")]
    exit_code: Field<'a>,
}

#[derive(Deserialize)]
struct StreamToolInput<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    path: Field<'a>,
}

impl Dialect for Copilot {
    fn parse_line(
        &mut self,
        text: &str,
        number: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error> {
        let line: CopilotEvent<'_> = parse_object(text)?;
        let kind = as_keyword(line.kind);
        if kind == "result" {
            self.session.emit_if_new(line.session, out);
            let failed = as_integer(line.exit_code).is_some_and(|code| code != 0);
            out(StreamEvent::Finished { failed });
            return Ok(());
        }
        let Some(data) = as_object::<StreamData<'_>>(line.data) else {
            return Ok(());
        };
        match kind {
            // Deltas precede the whole message; a subagent's message is a tool's result for the main agent.
            "assistant.message" => {
                if data.parent.is_none()
                    && let Some(text) = as_nonblank_string(data.content)
                {
                    out(StreamEvent::Text { text, line: number });
                }
                for_each_element(data.requests, &mut |raw| {
                    if let Some(request) = as_object::<StreamData<'_>>(Some(raw)) {
                        let name = as_string(request.name).unwrap_or_default();
                        if let Some(action) = action_of(&name, request.arguments) {
                            let id = as_string(request.call).unwrap_or_default();
                            self.awaited.add(id, action);
                        }
                        out(tool_call(
                            name,
                            request.arguments.map_or("", |raw| raw.get()),
                        ));
                    }
                });
            }
            "tool.execution_complete" => {
                let action = self.awaited.take(&as_string(data.call).unwrap_or_default());
                let result = as_object::<StreamData<'_>>(data.result);
                let output = result.and_then(|result| as_string(result.content));
                let output = output.unwrap_or_default();
                let shell = as_object::<StreamData<'_>>(data.shell);
                let code = shell.and_then(|shell| as_integer(shell.exit_code));
                let code = code.or_else(|| exit_code_line(&output));
                let failed = !is_true(data.success) || code.is_some_and(|code| code != 0);
                out(tool_result(failed, action, || {
                    let error = as_object::<StreamData<'_>>(data.error);
                    let error = error.and_then(|error| as_string(error.message));
                    error.unwrap_or_else(|| clean_output(&output).into_owned())
                }));
            }
            "session.error" => {
                let message = as_string(data.message);
                message
                    .into_iter()
                    .for_each(|message| out(StreamEvent::Error(message)));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the action of a tool call; `None` if it neither runs a command nor changes a file.
fn action_of(tool: &str, input: Field<'_>) -> Option<ToolAction> {
    let input = as_object::<StreamToolInput<'_>>(input)?;
    let action = match tool {
        "bash" | "powershell" => ToolAction {
            command: Some(as_nonblank_string(input.command)?),
            ..ToolAction::default()
        },
        "create" | "edit" | "str_replace_editor" => ToolAction {
            files: vec![as_nonblank_string(input.path)?],
            ..ToolAction::default()
        },
        _ => return None,
    };
    Some(action)
}

//! Codex `exec --json`.

use crate::json_fields::{
    Field, as_count, as_integer, as_keyword, as_object, as_string, for_each_element, parse_object,
};
use crate::streams::dialect::{Dialect, EventSink, SessionIdTracker, StreamDialect, add_usage};
use crate::streams::format_detection::EventLine;
use crate::streams::tool_events::{tool_call, tool_result};
use heirloom_model::event_stream::{StreamEvent, ToolAction, Usage};
use serde::Deserialize;

/// The event stream.
pub(crate) const STREAM: StreamDialect = StreamDialect {
    name: "codex-json",
    is_event,
    start: || Box::<Codex>::default(),
};

/// Returns true for a line of this stream.
fn is_event(line: &EventLine<'_>) -> bool {
    match line.kind() {
        "thread.started" => line.has("thread_id"),
        "turn.started" | "turn.completed" | "turn.failed" => true,
        "item.started" | "item.updated" | "item.completed" => line.has_object("item"),
        "error" => line.has("message") && !line.has("severity"),
        _ => false,
    }
}

/// Parser state of one Codex stream.
#[derive(Debug, Default)]
struct Codex {
    session: SessionIdTracker,
    total_usage: Usage,
    /// The last reported error; a failed turn repeats it.
    error: Option<String>,
}

#[derive(Deserialize)]
struct CodexEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    thread_id: Field<'a>,
    #[serde(borrow)]
    item: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct CodexItem<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    aggregated_output: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    changes: Field<'a>,
    #[serde(borrow)]
    server: Field<'a>,
    #[serde(borrow)]
    tool: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    query: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct CodexFileChange<'a> {
    #[serde(borrow)]
    path: Field<'a>,
}

#[derive(Deserialize)]
struct CodexError<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct CodexUsage<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cached_input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

impl Dialect for Codex {
    fn parse_line(
        &mut self,
        text: &str,
        number: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error> {
        let line: CodexEvent<'_> = parse_object(text)?;
        match as_keyword(line.kind) {
            "thread.started" => self.session.emit_if_new(line.thread_id, out),
            "item.completed" => {
                if let Some(item) = as_object::<CodexItem<'_>>(line.item) {
                    self.emit_item(&item, number, out);
                }
            }
            "turn.completed" => {
                if let Some(usage) = parse_usage(line.usage) {
                    self.total_usage = add_usage(self.total_usage, usage);
                    out(StreamEvent::Usage(self.total_usage));
                }
                out(StreamEvent::Finished { failed: false });
            }
            "turn.failed" => {
                let failure = as_object::<CodexError<'_>>(line.error);
                self.emit_error(failure.and_then(|failure| as_string(failure.message)), out);
                out(StreamEvent::Finished { failed: true });
            }
            "error" => self.emit_error(as_string(line.message), out),
            _ => {}
        }
        Ok(())
    }
}

impl Codex {
    fn emit_item(&mut self, item: &CodexItem<'_>, number: u64, out: EventSink<'_>) {
        let status = as_keyword(item.status);
        match as_keyword(item.kind) {
            "agent_message" => {
                let text = as_string(item.text);
                text.into_iter()
                    .for_each(|text| out(StreamEvent::Text { text, line: number }));
            }
            kind @ "command_execution" => {
                let command = as_string(item.command).unwrap_or_default();
                out(tool_call(kind.to_owned(), &command));
                let code = as_integer(item.exit_code);
                let failed = code.map_or(status != "completed", |code| code != 0);
                let action = ToolAction {
                    command: Some(command).filter(|command| !command.trim().is_empty()),
                    // Without an exit code the end of the command is unknown.
                    is_background: code.is_none(),
                    ..ToolAction::default()
                };
                out(tool_result(failed, Some(action), || {
                    as_string(item.aggregated_output).unwrap_or_default()
                }));
            }
            "mcp_tool_call" => {
                let name = |field| as_string(field).unwrap_or_default();
                let arguments = item.arguments.map_or("", |raw| raw.get());
                let name = format!("{}.{}", name(item.server), name(item.tool));
                out(tool_call(name, arguments));
                let failed = status == "failed";
                out(tool_result(failed, None, String::new));
            }
            kind @ "web_search" => {
                let query = as_string(item.query).unwrap_or_default();
                out(tool_call(kind.to_owned(), &query));
            }
            "file_change" if status != "failed" => for_each_element(item.changes, &mut |raw| {
                let change = as_object::<CodexFileChange<'_>>(Some(raw));
                let path = change.and_then(|change| as_string(change.path));
                path.into_iter()
                    .for_each(|path| out(StreamEvent::FileChanged(path)));
            }),
            "error" => self.emit_error(as_string(item.message), out),
            _ => {}
        }
    }

    fn emit_error(&mut self, message: Option<String>, out: EventSink<'_>) {
        if message.is_some() && message != self.error {
            self.error.clone_from(&message);
            message
                .into_iter()
                .for_each(|message| out(StreamEvent::Error(message)));
        }
    }
}

/// Parses token usage. Codex includes cached tokens in the input tokens; ours exclude them.
fn parse_usage(usage: Field<'_>) -> Option<Usage> {
    let tokens: CodexUsage<'_> = as_object(usage)?;
    let cached = as_count(tokens.cached_input_tokens);
    Some(Usage {
        input: as_count(tokens.input_tokens).saturating_sub(cached),
        cached,
        output: as_count(tokens.output_tokens),
    })
}

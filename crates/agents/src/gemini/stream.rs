//! Gemini CLI `--output-format stream-json`.

use super::wrapping::without_tool_wrapping;
use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, is_true, parse_object,
};
use crate::streams::dialect::{Dialect, EventSink, SessionIdTracker, StreamDialect, line_excerpt};
use crate::streams::format_detection::EventLine;
use crate::streams::repeat_detector::RepeatDetector;
use crate::streams::tool_events::{AwaitedActions, tool_call, tool_result};
use heirloom_model::event_stream::{StreamEvent, ToolAction, Usage};
use heirloom_model::limits::STREAM_LINE_BYTES_MAX;
use serde::Deserialize;

/// The event stream.
pub(crate) const STREAM: StreamDialect = StreamDialect {
    name: "gemini-stream",
    is_event,
    start: || Box::<Gemini>::default(),
};

/// Returns true for a line of this stream.
fn is_event(line: &EventLine<'_>) -> bool {
    match line.kind() {
        "init" => line.has("session_id"),
        "message" => line.has("role"),
        "tool_use" | "tool_result" => line.has("tool_id"),
        "error" => line.has("severity"),
        "result" => line.has("status") && !line.has("subtype"),
        _ => false,
    }
}

/// Parser state of one Gemini CLI stream.
#[derive(Debug, Default)]
struct Gemini {
    session: SessionIdTracker,
    spoken: RepeatDetector,
    /// The message whose deltas are arriving, and the line of the first delta.
    message: Option<(String, u64)>,
    awaited: AwaitedActions,
}

#[derive(Deserialize)]
struct GeminiEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    delta: Field<'a>,
    #[serde(borrow)]
    tool_name: Field<'a>,
    #[serde(borrow)]
    tool_id: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    parameters: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    stats: Field<'a>,
    #[serde(borrow)]
    response: Field<'a>,
}

#[derive(Deserialize)]
struct ToolParameters<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    is_background: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiError<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiStats<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cached: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

impl Dialect for Gemini {
    fn parse_line(
        &mut self,
        text: &str,
        number: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error> {
        let line: GeminiEvent<'_> = parse_object(text)?;
        match as_keyword(line.kind) {
            "init" => {
                self.end_message(out);
                self.session.emit_if_new(line.session_id, out);
            }
            "message" if as_keyword(line.role) == "assistant" => {
                self.emit_assistant(&line, number, out)
            }
            "message" => self.end_message(out),
            "tool_use" => {
                self.end_message(out);
                let parameters = line.parameters.map_or("", |raw| raw.get());
                let name = as_string(line.tool_name).unwrap_or_default();
                self.awaited.add(
                    as_keyword(line.tool_id).to_owned(),
                    action_of(&name, line.parameters),
                );
                out(tool_call(name, parameters));
            }
            "tool_result" => {
                self.end_message(out);
                let action = self.awaited.take(as_keyword(line.tool_id));
                let output = as_string(line.output).unwrap_or_default();
                // A command that fails is a successful tool: its exit code is a line of the output.
                let has_failed_command = action.is_some()
                    && super::hooks::exit_code_line(&output).is_some_and(|code| code != 0);
                let failed = as_keyword(line.status) != "success" || has_failed_command;
                out(tool_result(failed, action, || {
                    without_tool_wrapping(&output).into_owned()
                }));
            }
            "error" => {
                self.end_message(out);
                let message = as_string(line.message);
                message
                    .into_iter()
                    .for_each(|message| out(StreamEvent::Error(message)));
            }
            "result" => self.emit_result(&line, number, out),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, out: EventSink<'_>) {
        self.end_message(out);
    }
}

/// Returns the action of a tool call.
fn action_of(tool: &str, parameters: Field<'_>) -> ToolAction {
    let is_shell = tool == "run_shell_command";
    let is_editor = matches!(tool, "write_file" | "replace" | "edit");
    if !is_shell && !is_editor {
        return ToolAction::default();
    }
    let Some(parameters) = as_object::<ToolParameters<'_>>(parameters) else {
        return ToolAction::default();
    };
    let file = as_nonblank_string(parameters.file_path).filter(|_| is_editor);
    ToolAction {
        command: as_nonblank_string(parameters.command).filter(|_| is_shell),
        is_background: is_true(parameters.is_background),
        files: file.into_iter().collect(),
        ..ToolAction::default()
    }
}

impl Gemini {
    fn emit_assistant(&mut self, line: &GeminiEvent<'_>, number: u64, out: EventSink<'_>) {
        let Some(message_text) = as_string(line.content) else {
            return;
        };
        if is_true(line.delta) {
            let (message, _) = self.message.get_or_insert_with(|| (String::new(), number));
            message.push_str(&message_text);
            // Bounds memory: a message without an end is emitted in parts.
            if message.len() > STREAM_LINE_BYTES_MAX {
                self.end_message(out);
            }
            return;
        }
        // A whole message is either independent or repeats its deltas.
        if self
            .message
            .as_ref()
            .is_none_or(|(message, _)| *message != message_text)
        {
            self.end_message(out);
            self.message = Some((message_text, number));
        }
        self.end_message(out);
    }

    fn end_message(&mut self, out: EventSink<'_>) {
        if let Some((text, line)) = self.message.take() {
            self.spoken.record("", &text);
            out(StreamEvent::Text { text, line });
        }
    }

    fn emit_result(&mut self, line: &GeminiEvent<'_>, number: u64, out: EventSink<'_>) {
        let failed = as_keyword(line.status) != "success";
        if failed {
            self.drop_incomplete_line(number, out);
        }
        self.end_message(out);
        if let Some(stats) = as_object::<GeminiStats<'_>>(line.stats) {
            let cached = as_count(stats.cached);
            out(StreamEvent::Usage(Usage {
                // Gemini CLI includes cached tokens in the input tokens; ours exclude them.
                input: as_count(stats.input_tokens).saturating_sub(cached),
                cached,
                output: as_count(stats.output_tokens),
            }));
        }
        let failure = as_object::<GeminiError<'_>>(line.error);
        let error = failure.and_then(|failure| as_string(failure.message));
        error
            .into_iter()
            .for_each(|error| out(StreamEvent::Error(error)));
        let text = as_string(line.response).and_then(|text| self.spoken.without_repetition(text));
        if let Some(text) = text {
            out(StreamEvent::Text { text, line: number });
        }
        out(StreamEvent::Finished { failed });
    }

    /// Removes the last line of a message whose deltas end in a failure: an incomplete line must not be stored as a
    /// fact.
    fn drop_incomplete_line(&mut self, number: u64, out: EventSink<'_>) {
        let Some((message, _)) = &mut self.message else {
            return;
        };
        let whole = message.rfind('\n').map_or(0, |feed| feed + 1);
        let broken = message.split_off(whole);
        if whole == 0 {
            self.message = None;
        }
        if !broken.trim().is_empty() {
            let message = format!(
                "the answer broke off inside a line: {}",
                line_excerpt(&broken)
            );
            out(StreamEvent::Unreadable {
                line: number,
                message,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editing_tool_names_its_file() {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(r#"{"file_path": "src/a.rs"}"#).unwrap();
        for tool in ["write_file", "replace", "edit"] {
            let action = action_of(tool, Some(raw));
            assert!(format!("{action:?}").contains("src/a.rs"), "{tool}");
        }
        let action = action_of("read_file", Some(raw));
        assert!(!format!("{action:?}").contains("src/a.rs"));
    }
}

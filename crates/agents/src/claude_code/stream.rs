//! Claude Code `--output-format stream-json`.

use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, for_each_element,
    is_true, parse_object,
};
use crate::streams::dialect::{Dialect, EventSink, SessionIdTracker, StreamDialect, add_usage};
use crate::streams::format_detection::EventLine;
use crate::streams::repeat_detector::RepeatDetector;
use crate::streams::tool_events::{AwaitedActions, tool_call, tool_result};
use heirloom_model::event_stream::{StreamEvent, ToolAction, Usage};
use serde::Deserialize;
use std::collections::VecDeque;

/// Number of messages whose usage may be reported again. Lines of parallel subagents alternate.
const OPEN_MESSAGES_MAX: usize = 64;

/// Model name of messages that the program writes itself, such as `API Error: 400`.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The event stream.
pub(crate) const STREAM: StreamDialect = StreamDialect {
    name: "claude-stream",
    is_event,
    start: || Box::<Claude>::default(),
};

/// Returns true for a line of this stream.
fn is_event(line: &EventLine<'_>) -> bool {
    match line.kind() {
        "system" => line.has("subtype") && line.has("session_id"),
        "assistant" | "user" => line.has_object("message"),
        "result" => line.has("subtype"),
        "stream_event" => line.has_object("event"),
        _ => false,
    }
}

/// Parser state of one Claude Code stream.
#[derive(Debug, Default)]
struct Claude {
    session: SessionIdTracker,
    spoken: RepeatDetector,
    /// Latest usage of each message that may be reported again.
    open: VecDeque<(String, Usage)>,
    /// Total usage of older messages.
    closed: Usage,
    reported: Usage,
    awaited: AwaitedActions,
}

#[derive(Deserialize)]
struct ClaudeEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    errors: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
}

#[derive(Deserialize)]
struct ToolInput<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    run_in_background: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
    #[serde(borrow)]
    notebook_path: Field<'a>,
}

#[derive(Deserialize)]
struct ClaudeUsage<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_creation_input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_read_input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

impl Dialect for Claude {
    fn parse_line(
        &mut self,
        text: &str,
        number: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error> {
        let line: ClaudeEvent<'_> = parse_object(text)?;
        match as_keyword(line.kind) {
            "system" => self.session.emit_if_new(line.session_id, out),
            "assistant" => {
                self.session.emit_if_new(line.session_id, out);
                self.emit_assistant(&line, number, out);
            }
            "user" => {
                self.session.emit_if_new(line.session_id, out);
                let message = as_object::<ClaudeMessage<'_>>(line.message);
                for_each_element(message.and_then(|message| message.content), &mut |raw| {
                    if let Some(block) = as_object::<ContentBlock<'_>>(Some(raw))
                        && as_keyword(block.kind) == "tool_result"
                    {
                        let failed = is_true(block.is_error);
                        let action = self.awaited.take(as_keyword(block.tool_use_id));
                        out(tool_result(failed, action, || result_text(block.content)));
                    }
                });
            }
            "result" => {
                self.session.emit_if_new(line.session_id, out);
                self.emit_result(&line, number, out);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Claude {
    fn emit_assistant(&mut self, line: &ClaudeEvent<'_>, number: u64, out: EventSink<'_>) {
        let Some(message) = as_object::<ClaudeMessage<'_>>(line.message) else {
            return;
        };
        if as_keyword(message.model) == SYNTHETIC_MODEL {
            return;
        }
        let id = as_string(message.id).unwrap_or_default();
        let is_subagent = line.parent_tool_use_id.is_some();
        let (spoken, awaited) = (&mut self.spoken, &mut self.awaited);
        let mut say = |text: String, out: EventSink<'_>| {
            // Only the main agent's text can be repeated by the final result.
            if !is_subagent {
                spoken.record(&id, &text);
            }
            out(StreamEvent::Text { text, line: number });
        };
        if let Some(text) = as_string(message.content) {
            say(text, out);
        }
        for_each_element(message.content, &mut |raw| {
            let Some(block) = as_object::<ContentBlock<'_>>(Some(raw)) else {
                return;
            };
            match as_keyword(block.kind) {
                "text" => as_string(block.text)
                    .into_iter()
                    .for_each(|text| say(text, out)),
                "tool_use" => {
                    let input = block.input.map_or("", |raw| raw.get());
                    let name = as_string(block.name).unwrap_or_default();
                    awaited.add(
                        as_keyword(block.id).to_owned(),
                        action_of(&name, block.input),
                    );
                    out(tool_call(name, input));
                }
                _ => {}
            }
        });
        if let Some(usage) = parse_usage(message.usage) {
            self.add_message_usage(id, usage, out);
        }
    }

    /// Updates a message's usage: each of its lines repeats it with newer numbers.
    fn add_message_usage(&mut self, id: String, usage: Usage, out: EventSink<'_>) {
        match self
            .open
            .iter_mut()
            .find(|(known, _)| !id.is_empty() && *known == id)
        {
            Some((_, known)) => *known = usage,
            None => self.open.push_back((id, usage)),
        }
        if self.open.len() > OPEN_MESSAGES_MAX
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.closed = add_usage(self.closed, oldest);
        }
        let total = self
            .open
            .iter()
            .fold(self.closed, |total, (_, usage)| add_usage(total, *usage));
        if total != self.reported {
            self.reported = total;
            out(StreamEvent::Usage(total));
        }
    }

    fn emit_result(&mut self, line: &ClaudeEvent<'_>, number: u64, out: EventSink<'_>) {
        // The program's total replaces ours, and later messages are added to it. The total is all zero after a retry
        // of an interrupted answer; then ours is better.
        if let Some(usage) = parse_usage(line.usage).filter(|usage| *usage != Usage::default()) {
            self.open.clear();
            (self.closed, self.reported) = (usage, usage);
            out(StreamEvent::Usage(usage));
        }
        let failed = is_true(line.is_error) || as_keyword(line.subtype).starts_with("error");
        let text = as_string(line.result).filter(|text| !text.trim().is_empty());
        if !failed {
            let text = text.and_then(|text| self.spoken.without_repetition(text));
            if let Some(text) = text {
                out(StreamEvent::Text { text, line: number });
            }
            return out(StreamEvent::Finished { failed });
        }
        // The text of a failure is from the program, not from the model.
        text.into_iter()
            .for_each(|text| out(StreamEvent::Error(text)));
        for_each_element(line.errors, &mut |raw| {
            let error = as_string(Some(raw));
            error
                .into_iter()
                .for_each(|error| out(StreamEvent::Error(error)));
        });
        out(StreamEvent::Finished { failed });
    }
}

/// Returns the action of a tool call.
fn action_of(tool: &str, input: Field<'_>) -> ToolAction {
    let is_shell = tool == "Bash";
    let is_editor = matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit");
    if !is_shell && !is_editor {
        return ToolAction::default();
    }
    let Some(input) = as_object::<ToolInput<'_>>(input) else {
        return ToolAction::default();
    };
    let files = [input.file_path, input.notebook_path];
    ToolAction {
        command: as_nonblank_string(input.command).filter(|_| is_shell),
        is_background: is_true(input.run_in_background),
        files: (files.into_iter().filter(|_| is_editor))
            .filter_map(as_nonblank_string)
            .collect(),
        ..ToolAction::default()
    }
}

/// Returns the text of a tool's result: a string, or its text parts.
fn result_text(content: Field<'_>) -> String {
    if let Some(text) = as_string(content) {
        return text;
    }
    let mut texts = Vec::new();
    for_each_element(content, &mut |raw| {
        texts.extend(
            as_object::<ContentBlock<'_>>(Some(raw)).and_then(|block| as_string(block.text)),
        );
    });
    texts.join("\n")
}

fn parse_usage(usage: Field<'_>) -> Option<Usage> {
    let tokens: ClaudeUsage<'_> = as_object(usage)?;
    Some(Usage {
        input: as_count(tokens.input_tokens)
            .saturating_add(as_count(tokens.cache_creation_input_tokens)),
        cached: as_count(tokens.cache_read_input_tokens),
        output: as_count(tokens.output_tokens),
    })
}

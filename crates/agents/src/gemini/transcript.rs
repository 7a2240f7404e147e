//! Transcripts of Gemini CLI: a line is a message, an update of one, or a change of the conversation's metadata.
//! Older versions wrote one object with all messages, which is read as one line.

use super::wrapping::{without_hook_context, without_tool_wrapping};
use crate::ProgramFolder;
use crate::json_fields::{
    Field, as_keyword, as_nonblank_string, as_object, as_string, as_time, for_each_element,
    parse_object,
};
use crate::transcripts::transcript_format::{EventReader, LineScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{
    EventBody, EventSink, FileEdit, ToolAction, ToolOutcome, TranscriptEvent, TranscriptHeader,
    call_line,
};
use heirloom_fs::project_fs;
use heirloom_model::event_stream::Usage;
use heirloom_model::{Timestamp, limits};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

/// Beginnings of user texts that the program wrote.
const INJECTED: [&str; 3] = ["/", "?", "<session_context>"];

#[derive(Deserialize)]
struct GeminiLine<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Field<'a>,
    #[serde(borrow, rename = "projectHash")]
    project: Field<'a>,
    #[serde(borrow, rename = "startTime")]
    started: Field<'a>,
    #[serde(borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    messages: Field<'a>,
    #[serde(borrow, rename = "$set")]
    set: Field<'a>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
}

#[derive(Deserialize)]
struct SetUpdate<'a> {
    #[serde(borrow)]
    messages: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiMessage<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow, rename = "toolCalls")]
    calls: Field<'a>,
    #[serde(borrow)]
    tokens: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiPart<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow, rename = "functionResponse")]
    response: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiCall<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    args: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
}

#[derive(Deserialize)]
struct CallArguments<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
}

#[derive(Deserialize)]
struct FunctionResponse<'a> {
    #[serde(borrow)]
    response: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
}

#[derive(Deserialize)]
struct GeminiUsage<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    cached: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

/// File next to the conversations that names their folder.
const PROJECT_ROOT: &str = ".project_root";
/// Number of folders above a conversation that may have this file.
const PARENTS: usize = 4;

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    folders: &[ProgramFolder {
        variable: Some("GEMINI_CLI_HOME"),
        below_home: "",
        inside: ".gemini/tmp",
    }],
    recorded_folder: |path, _| recorded_folder(path),
    clean_prompt: without_hook_context,
    clean_output: without_tool_wrapping,
    read_only_tools: &[
        "read_file",
        "read_many_files",
        "glob",
        "search_file_content",
        "list_directory",
        "write_todos",
    ],
    ..TranscriptFormat::new(
        read_header,
        || Box::<GeminiLineScan>::default(),
        is_transcript,
    )
};

fn is_transcript(path: &Path, name: &str) -> bool {
    let is_chat = path.components().any(|part| part.as_os_str() == "chats");
    let is_named = name.starts_with("session-");
    (name.ends_with(".jsonl") || name.ends_with(".json")) && (is_chat || is_named)
}

/// Reads the folder from the file next to the conversations.
fn recorded_folder(path: &Path) -> Option<String> {
    let folders = path.ancestors().skip(1).take(PARENTS);
    let found = folders.map(|folder| folder.join(PROJECT_ROOT));
    let bytes = found
        .filter_map(|file| project_fs::read_bounded(&file, limits::PATH_BYTES_MAX as u64).ok())
        .next()?;
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reads the header from a line; returns true if the header is complete.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(line) = parse_object::<GeminiLine<'_>>(text) else {
        return false;
    };
    let (Some(session), Some(project)) = (
        as_nonblank_string(line.session),
        as_nonblank_string(line.project),
    ) else {
        return false;
    };
    head.agent = Some(session.clone()).filter(|_| as_keyword(line.kind) == "subagent");
    head.session = Some(session);
    head.folder_hash = Some(project);
    head.began = as_time(line.started);
    true
}

/// Scan for messages that were repeated, rewound or replaced.
#[derive(Debug, Default)]
struct GeminiLineScan {
    /// The current messages in order, with the offset of each.
    order: Vec<(String, u64)>,
    at: HashMap<String, usize>,
    superseded: Vec<u64>,
}

impl LineScan for GeminiLineScan {
    fn read_line(&mut self, at: u64, text: &str) {
        let Ok(line) = parse_object::<GeminiLine<'_>>(text) else {
            return;
        };
        if let Some(to) = as_string(line.rewind) {
            let from = self.at.get(&to).copied().unwrap_or(0);
            self.supersede_from(from);
        } else if let Some(id) = as_nonblank_string(line.id) {
            match self.at.get(&id) {
                Some(&index) => {
                    let before = std::mem::replace(&mut self.order[index].1, at);
                    self.superseded.push(before);
                }
                None => {
                    self.at.insert(id.clone(), self.order.len());
                    self.order.push((id, at));
                }
            }
        } else if as_object::<SetUpdate<'_>>(line.set).is_some_and(|set| set.messages.is_some()) {
            self.supersede_from(0);
        }
    }

    fn finish(mut self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        self.superseded.sort_unstable();
        (self.superseded, Box::new(Gemini))
    }
}

impl GeminiLineScan {
    fn supersede_from(&mut self, from: usize) {
        for (id, at) in self.order.drain(from.min(self.order.len())..) {
            self.at.remove(&id);
            self.superseded.push(at);
        }
    }
}

/// Event parser of a Gemini CLI transcript.
#[derive(Debug)]
struct Gemini;

impl EventReader for Gemini {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        read_line(at, text, out)
    }
}

/// Emits the events of a line; `None` if it is not valid JSON.
fn read_line(at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
    let line: GeminiLine<'_> = parse_object(text).ok()?;
    if line.id.is_some() {
        if let Ok(one) = parse_object::<GeminiMessage<'_>>(text) {
            emit_message(at, &one, out);
        }
        return Some(());
    }
    let update_messages = as_object::<SetUpdate<'_>>(line.set).and_then(|set| set.messages);
    for_each_element(update_messages.or(line.messages), &mut |raw| {
        if let Some(one) = as_object::<GeminiMessage<'_>>(Some(raw)) {
            emit_message(at, &one, out);
        }
    });
    Some(())
}

fn emit_message(at: u64, message: &GeminiMessage<'_>, out: EventSink<'_>) {
    let id = as_nonblank_string(message.id).unwrap_or_else(|| at.to_string());
    let when = as_time(message.timestamp);
    let message_text = content_text(message.content);
    let is_said = !message_text.trim().is_empty();
    match as_keyword(message.kind) {
        "user" if is_said => {
            let text = message_text.trim_start();
            if !INJECTED.iter().any(|start| text.starts_with(start)) {
                out(main_agent_event(id, when, EventBody::Prompt(message_text)));
            }
        }
        "gemini" => {
            if is_said {
                out(main_agent_event(
                    id.clone(),
                    when,
                    EventBody::AssistantText(message_text),
                ));
            }
            for_each_element(message.calls, &mut |raw| {
                if let Some(one) = as_object::<GeminiCall<'_>>(Some(raw)) {
                    emit_call(&id, when, &one, out);
                }
            });
            if let Some(tokens) = as_object::<GeminiUsage<'_>>(message.tokens) {
                let cached = crate::json_fields::as_count(tokens.cached);
                let used = Usage {
                    input: crate::json_fields::as_count(tokens.input).saturating_sub(cached),
                    cached,
                    output: crate::json_fields::as_count(tokens.output),
                };
                out(main_agent_event(
                    format!("usage {id}"),
                    when,
                    EventBody::TokenUsage(used),
                ));
            }
        }
        _ => {}
    }
}

fn emit_call(message: &str, at: Option<Timestamp>, one: &GeminiCall<'_>, out: EventSink<'_>) {
    let tool = as_string(one.name).unwrap_or_default();
    let name = as_nonblank_string(one.id).unwrap_or_else(|| format!("{message} {tool}"));
    let at = as_time(one.timestamp).or(at);
    let raw = one.args.map_or("", |raw| raw.get());
    let read = as_object::<CallArguments<'_>>(one.args);
    let action = read.and_then(|read| match tool.as_str() {
        "run_shell_command" => as_nonblank_string(read.command).map(ToolAction::Command),
        "write_file" | "replace" | "edit" => as_nonblank_string(read.file_path)
            .map(|path| ToolAction::Edit(vec![FileEdit::of_path(path)])),
        _ => None,
    });
    let action = action.unwrap_or_else(|| ToolAction::Other(call_line(raw)));
    let is_command = matches!(action, ToolAction::Command(_));
    let event = EventBody::Call {
        call: name.clone(),
        tool,
        action,
    };
    out(main_agent_event(format!("call {name}"), at, event));
    let text = content_text(one.result);
    let outcome = match as_keyword(one.status) {
        "cancelled" => ToolOutcome::Rejected,
        "error" => ToolOutcome::Failed,
        "success" if is_command && exit_code(&text).is_some_and(|code| code != 0) => {
            ToolOutcome::Failed
        }
        "success" => ToolOutcome::Succeeded,
        // The call was still running when this line was written.
        _ => return,
    };
    let event = EventBody::Result {
        call: name.clone(),
        outcome,
        text,
    };
    out(TranscriptEvent {
        id: format!("result {name}"),
        at,
        agent: None,
        body: event,
    });
}

/// Returns the exit code in one of the last lines of a shell's output.
fn exit_code(text: &str) -> Option<i64> {
    let mut last = text.lines().rev().take(8);
    last.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// Returns the text of a content: a string, or parts with text or tool output.
fn content_text(field: Field<'_>) -> String {
    if let Some(text) = as_string(field) {
        return text;
    }
    let mut out = String::new();
    let mut add = |raw| {
        let Some(part) = as_object::<GeminiPart<'_>>(Some(raw)) else {
            return;
        };
        let answer = as_object::<FunctionResponse<'_>>(part.response);
        let answer = answer.and_then(|one| as_object::<FunctionResponse<'_>>(one.response));
        let message_text = as_string(part.text).or_else(|| {
            let answer = answer?;
            as_string(answer.output).or_else(|| as_string(answer.error))
        });
        if let Some(message_text) = message_text {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&message_text);
        }
    };
    match field {
        Some(raw) if raw.get().starts_with('{') => add(raw),
        Some(_) | None => for_each_element(field, &mut add),
    }
    out
}

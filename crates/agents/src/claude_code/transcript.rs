//! Transcripts of Claude Code.
//!
//! One answer is several lines with one `message.id`; tool results are lines of the user.

mod conversation_tree;
mod line_fields;
mod line_scan;
mod queued_prompts;
mod task_list;
mod tool_actions;

use crate::ProgramFolder;
use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, is_true, joined_texts, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, TranscriptFormat};
use crate::transcripts::{
    EventBody, EventSink, ToolAction, ToolOutcome, TranscriptEvent, TranscriptHeader,
};
use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;
use line_fields::{Attachment, ClaudeLine, ClaudeMessage, ClaudeUsage, ContentBlock};
use line_scan::ClaudeLineScan;
use queued_prompts::QueuedPrompt;
use std::collections::HashMap;
use task_list::{TaskChanges, TaskList};
use tool_actions::tool_action;

/// Model name of messages that the program writes itself, such as `API Error: 400`.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Beginnings of user texts that the program wrote.
const INJECTED: [&str; 8] = [
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<task-notification>",
    "Caveat:",
    "[Request interrupted",
    "<bash-",
    "<user-memory-input>",
];

/// Beginnings of the result of a denied or interrupted tool call.
const REJECTED: [&str; 4] = [
    "The user doesn't want to proceed",
    "[Request interrupted",
    "<tool_use_error>",
    "Permission to use",
];

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    folders: &[ProgramFolder {
        variable: Some("CLAUDE_CONFIG_DIR"),
        below_home: ".claude",
        inside: "projects",
    }],
    read_only_tools: &[
        "Read",
        "Glob",
        "Grep",
        "LS",
        "NotebookRead",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "TaskList",
        "TaskGet",
        "ToolSearch",
    ],
    ..TranscriptFormat::new(
        read_header,
        || Box::<ClaudeLineScan>::default(),
        |_, name| name.ends_with(".jsonl"),
    )
};

/// Reads the header from a line; returns true if the header is complete.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(line) = parse_object::<ClaudeLine<'_>>(text) else {
        return false;
    };
    let is_talk = matches!(as_keyword(line.kind), "user" | "assistant" | "system");
    if !is_talk || line.session.is_none() {
        return false;
    }
    head.session = head
        .session
        .take()
        .or_else(|| as_nonblank_string(line.session));
    head.folder = head.folder.take().or_else(|| as_nonblank_string(line.cwd));
    head.agent = head.agent.take().or_else(|| as_nonblank_string(line.agent));
    head.began = head.began.or_else(|| as_time(line.timestamp));
    head.folder.is_some() && head.began.is_some()
}

/// Returns the queued prompt that a line attached to the running turn.
fn attached_prompt(attachment: Field<'_>) -> Option<String> {
    let attachment: Attachment<'_> = as_object(attachment)?;
    if as_keyword(attachment.kind) != "queued_command" {
        return None;
    }
    let prompt = joined_texts(attachment.prompt, &["text"]);
    (!prompt.trim().is_empty() && !is_injected(&prompt)).then_some(prompt)
}

/// An answer that the next line may continue.
#[derive(Debug)]
struct PendingAnswer {
    message: String,
    id: String,
    at: Option<Timestamp>,
    agent: Option<String>,
    text: String,
}

/// Event parser of a Claude Code transcript.
#[derive(Debug, Default)]
struct Claude {
    answer: Option<PendingAnswer>,
    /// Latest usage of the current answer.
    usage: Option<(String, Usage)>,
    /// Queued prompts, by the offset of the line with which they were delivered.
    queued: HashMap<u64, Vec<QueuedPrompt>>,
    tasks: TaskList,
}

/// Id, time and agent of a line.
struct LineContext {
    id: String,
    at: Option<Timestamp>,
    agent: Option<String>,
}

impl LineContext {
    fn of_line(at: u64, line: &ClaudeLine<'_>) -> Self {
        let inline = is_true(line.aside).then(|| "subagent".to_owned());
        Self {
            id: as_nonblank_string(line.uuid).unwrap_or_else(|| at.to_string()),
            at: as_time(line.timestamp),
            agent: as_nonblank_string(line.agent).or(inline),
        }
    }

    fn event(&self, id: String, event: EventBody) -> TranscriptEvent {
        TranscriptEvent {
            id,
            at: self.at,
            agent: self.agent.clone(),
            body: event,
        }
    }
}

impl EventReader for Claude {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        let line: ClaudeLine<'_> = parse_object(text).ok()?;
        let is_answer = match as_keyword(line.kind) {
            "assistant" => true,
            "user" => false,
            "queue-operation" => {
                self.emit_queued_prompts(at, out);
                return Some(());
            }
            "attachment" => {
                if let Some(prompt) = attached_prompt(line.attachment) {
                    self.flush(out);
                    let place = LineContext::of_line(at, &line);
                    out(place.event(place.id.clone(), EventBody::Prompt(prompt)));
                }
                return Some(());
            }
            _ => return Some(()),
        };
        let Some(message) = as_object::<ClaudeMessage<'_>>(line.message) else {
            return Some(());
        };
        let place = LineContext::of_line(at, &line);
        if is_answer {
            if as_keyword(message.model) != SYNTHETIC_MODEL && !is_true(line.api_error) {
                self.emit_answer(&place, &message, out);
            }
            return Some(());
        }
        self.flush(out);
        if is_true(line.summary) {
            let message_text = joined_texts(message.content, &["text"]);
            out(place.event(place.id.clone(), EventBody::Summary(message_text)));
        } else if !is_true(line.meta) {
            emit_user_line(&place, &message, out);
        }
        Some(())
    }

    fn finish(&mut self, out: EventSink<'_>) {
        self.flush(out);
    }
}

impl Claude {
    fn emit_answer(
        &mut self,
        place: &LineContext,
        message: &ClaudeMessage<'_>,
        out: EventSink<'_>,
    ) {
        let id = as_keyword(message.id);
        let is_other = |held: &PendingAnswer| held.message != id || held.agent != place.agent;
        if self.answer.as_ref().is_some_and(is_other) {
            self.flush(out);
        }
        if let Some(used) = parse_usage(message.usage) {
            match &mut self.usage {
                Some((known, usage)) if known == id => *usage = used,
                _ => {
                    self.emit_usage(out);
                    self.usage = Some((id.to_owned(), used));
                }
            }
        }
        if let Some(text) = as_string(message.content) {
            self.append_text(place, id, &text);
        }
        for_each_element(message.content, &mut |raw| {
            let Some(block) = as_object::<ContentBlock<'_>>(Some(raw)) else {
                return;
            };
            match as_keyword(block.kind) {
                "text" => {
                    if let Some(text) = as_string(block.text) {
                        self.append_text(place, id, &text);
                    }
                }
                "tool_use" => {
                    self.emit_text(out);
                    let call = as_nonblank_string(block.id).unwrap_or_else(|| place.id.clone());
                    let tool = as_string(block.name).unwrap_or_default();
                    let list = TaskChanges::has_tool(&tool).then(|| self.tasks.after_call(&call));
                    let action = match list.flatten() {
                        Some(items) => ToolAction::Plan(items),
                        None => tool_action(&tool, block.input),
                    };
                    let name = format!("call {call}");
                    out(place.event(name, EventBody::Call { call, tool, action }));
                }
                _ => {}
            }
        });
    }

    fn append_text(&mut self, place: &LineContext, message: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match &mut self.answer {
            Some(answer) => {
                answer.text.push('\n');
                answer.text.push_str(text);
            }
            None => {
                self.answer = Some(PendingAnswer {
                    message: message.to_owned(),
                    id: place.id.clone(),
                    at: place.at,
                    agent: place.agent.clone(),
                    text: text.to_owned(),
                });
            }
        }
    }

    fn emit_text(&mut self, out: EventSink<'_>) {
        if let Some(answer) = self.answer.take() {
            out(TranscriptEvent {
                id: answer.id,
                at: answer.at,
                agent: answer.agent,
                body: EventBody::AssistantText(answer.text),
            });
        }
    }

    fn emit_usage(&mut self, out: EventSink<'_>) {
        if let Some((message, usage)) = self.usage.take() {
            let event = EventBody::TokenUsage(usage);
            out(crate::transcripts::transcript_reader::main_agent_event(
                format!("usage {message}"),
                None,
                event,
            ));
        }
    }

    /// Emits the prompts that were delivered with the line at `at`.
    fn emit_queued_prompts(&mut self, at: u64, out: EventSink<'_>) {
        for prompt in self.queued.remove(&at).unwrap_or_default() {
            self.flush(out);
            out(TranscriptEvent {
                id: prompt.queued_at.to_string(),
                at: prompt.at,
                agent: None,
                body: EventBody::Prompt(prompt.text),
            });
        }
    }

    /// Emits the pending answer and its usage.
    fn flush(&mut self, out: EventSink<'_>) {
        self.emit_text(out);
        self.emit_usage(out);
    }
}

fn emit_user_line(place: &LineContext, message: &ClaudeMessage<'_>, out: EventSink<'_>) {
    let mut message_text = String::new();
    let mut add = |text: &str| {
        if !is_injected(text) {
            if !message_text.is_empty() {
                message_text.push('\n');
            }
            message_text.push_str(text);
        }
    };
    if let Some(text) = as_string(message.content) {
        add(&text);
    }
    let mut answers = false;
    for_each_element(message.content, &mut |raw| {
        let Some(block) = as_object::<ContentBlock<'_>>(Some(raw)) else {
            return;
        };
        match as_keyword(block.kind) {
            "text" => {
                if let Some(text) = as_string(block.text) {
                    add(&text);
                }
            }
            "tool_result" => {
                answers = true;
                let call = as_string(block.tool_use_id).unwrap_or_default();
                let text = joined_texts(block.content, &["text"]);
                let is_stopped = REJECTED.iter().any(|start| text.starts_with(start));
                let outcome = match (is_true(block.is_error), is_stopped) {
                    (_, true) => ToolOutcome::Rejected,
                    (true, false) => ToolOutcome::Failed,
                    (false, false) => ToolOutcome::Succeeded,
                };
                let id = format!("result {call}");
                out(place.event(
                    id,
                    EventBody::Result {
                        call,
                        outcome,
                        text,
                    },
                ));
            }
            _ => {}
        }
    });
    // Text next to tool results is written by the program, not by a person.
    if !answers && !message_text.trim().is_empty() {
        out(place.event(place.id.clone(), EventBody::Prompt(message_text)));
    }
}

fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|start| text.starts_with(start))
}

fn parse_usage(usage: Field<'_>) -> Option<Usage> {
    let tokens: ClaudeUsage<'_> = as_object(usage)?;
    Some(Usage {
        input: as_count(tokens.input_tokens) + as_count(tokens.cache_creation_input_tokens),
        cached: as_count(tokens.cache_read_input_tokens),
        output: as_count(tokens.output_tokens),
    })
}

//! Transcripts of Claude Code.
//!
//! One answer is several lines with one `message.id`; tool results are lines of the user.

mod conversation_tree;
mod line_fields;
mod line_scan;
mod queued_prompts;
mod shell_commands;
mod task_list;
mod tool_actions;
mod turn_author;
mod typed_answers;

use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, is_object, is_true, joined_texts, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, TranscriptFormat};
use crate::transcripts::{
    EventBody, EventSink, ToolAction, ToolOutcome, TranscriptEvent, TranscriptHeader, TurnAuthor,
};
use crate::{AgentProgram, ProgramFolder};
use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;
use line_fields::{Attachment, ClaudeLine, ClaudeMessage, ClaudeUsage, ContentBlock, ForkedFrom};
use line_scan::ClaudeLineScan;
use queued_prompts::QueuedPrompt;
use shell_commands::shell_event;
use std::collections::HashMap;
use task_list::{TaskChanges, TaskList};
use tool_actions::tool_action;
pub(super) use turn_author::is_script_entry_point;
use turn_author::{author_of_line, author_of_origin, is_of_program, is_prompt};
use typed_answers::typed_answers;

/// Model name of messages that the program writes itself, such as `API Error: 400`.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Beginning of the summary with which a conversation continues after a compaction.
const CONTINUATION: &str = "This session is being continued from a previous conversation";

/// Tag of the name of a command that a person typed.
const COMMAND_TAG: &str = "<command-name>";
/// Command of a compaction.
const COMPACTION: &str = "/compact";

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

/// Returns the queued prompt that a line attached to the running turn, and its author.
fn attached_prompt(attachment: Field<'_>) -> Option<(String, TurnAuthor)> {
    let attachment = as_object::<Attachment<'_>>(attachment).filter(is_prompt)?;
    let prompt = person_words(&joined_texts(attachment.prompt, &["text"]));
    (!prompt.is_empty()).then(|| (prompt, author_of_origin(attachment.origin)))
}

/// Returns the words that a person typed in a text of the user.
fn person_words(text: &str) -> String {
    AgentProgram::ClaudeCode.person_text(text).trim().to_owned()
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
    /// Author by the fields of the last line that has them; those of the queue have none.
    author: TurnAuthor,
    /// Id of the line with the last command whose template the next line may have.
    command: Option<String>,
}

/// Id, time, agent and author of a line.
struct LineContext {
    id: String,
    at: Option<Timestamp>,
    agent: Option<String>,
    author: TurnAuthor,
    /// Id of the line before it.
    parent: String,
    /// True for a line of the conversation from which this one was forked.
    is_copy: bool,
}

impl LineContext {
    fn of_line(at: u64, line: &ClaudeLine<'_>) -> Self {
        let inline = is_true(line.aside).then(|| "subagent".to_owned());
        // A fork gives the lines new ids and names those of the original.
        let origin = as_object::<ForkedFrom<'_>>(line.forked_from);
        let original = origin.and_then(|origin| as_nonblank_string(origin.message));
        Self {
            is_copy: original.is_some(),
            id: original
                .or_else(|| as_nonblank_string(line.uuid))
                .unwrap_or_else(|| at.to_string()),
            at: as_time(line.timestamp),
            agent: as_nonblank_string(line.agent).or(inline),
            author: author_of_line(line),
            parent: as_string(line.parent).unwrap_or_default(),
        }
    }

    fn event(&self, id: String, event: EventBody) -> TranscriptEvent {
        TranscriptEvent {
            id,
            at: self.at,
            agent: self.agent.clone(),
            author: self.author,
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
                if let Some((prompt, author)) = attached_prompt(line.attachment) {
                    self.flush(out);
                    let mut place = LineContext::of_line(at, &line);
                    place.author = author.or(place.author);
                    out(place.event(place.id.clone(), EventBody::Prompt(prompt)));
                }
                return Some(());
            }
            _ => return Some(()),
        };
        let Some(message) = as_object::<ClaudeMessage<'_>>(line.message) else {
            return Some(());
        };
        let mut place = LineContext::of_line(at, &line);
        if is_answer {
            if as_keyword(message.model) != SYNTHETIC_MODEL && !is_true(line.api_error) {
                self.emit_answer(&place, &message, out);
            }
            return Some(());
        }
        self.flush(out);
        self.author = place.author;
        let is_summary = is_true(line.summary) || continues_compacted(&message);
        if is_summary {
            let message_text = joined_texts(message.content, &["text"]);
            out(place.event(place.id.clone(), EventBody::Summary(message_text)));
        } else if !is_true(line.meta) {
            if self.is_template(&line, &message) {
                place.author = TurnAuthor::Other;
            }
            emit_user_line(&place, &message, &line, out);
            let answers = typed_answers(line.tool_use_result);
            if !answers.is_empty() {
                let id = format!("answer {}", place.id);
                out(place.event(id, EventBody::Prompt(answers)));
            }
        }
        Some(())
    }

    fn read_superseded_line(&mut self, at: u64, text: &str, out: EventSink<'_>) {
        let Ok(line) = parse_object::<ClaudeLine<'_>>(text) else {
            return;
        };
        let is_of_user = as_keyword(line.kind) == "user" && !is_true(line.summary);
        let message = as_object::<ClaudeMessage<'_>>(line.message)
            .filter(|message| is_of_user && !is_of_program(&line, message));
        if let Some(message) = message {
            let place = LineContext::of_line(at, &line);
            emit_user_line(&place, &message, &line, &mut |event| {
                if let EventBody::Prompt(words) = event.body {
                    let body = EventBody::AbandonedPrompt(words);
                    out(TranscriptEvent { body, ..event });
                }
            });
        }
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
        // The tokens of copied lines count in the original.
        if let Some(used) = parse_usage(message.usage).filter(|_| !place.is_copy) {
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
                author: TurnAuthor::Person,
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
                id: prompt.event_id(),
                at: prompt.at,
                agent: None,
                author: prompt.author.or(self.author),
                body: EventBody::Prompt(prompt.text),
            });
        }
    }

    /// Returns true for the template of a command in a line after that of the command itself. Versions that mark such a
    /// line are read by the mark.
    fn is_template(&mut self, line: &ClaudeLine<'_>, message: &ClaudeMessage<'_>) -> bool {
        let is_after = (self.command.take()).is_some_and(|id| as_keyword(line.parent) == id);
        let text = joined_texts(message.content, &["text"]);
        if text.contains(COMMAND_TAG) {
            let words = person_words(&text);
            // Commands that set up the program leave no words, and that of a compaction has no template.
            let has_template = words.starts_with('/') && !words.starts_with(COMPACTION);
            self.command = as_nonblank_string(line.uuid).filter(|_| has_template);
            return false;
        }
        is_after && !text.is_empty()
    }

    /// Emits the pending answer and its usage.
    fn flush(&mut self, out: EventSink<'_>) {
        self.emit_text(out);
        self.emit_usage(out);
    }
}

/// Returns true for the summary of a version that does not flag it.
fn continues_compacted(message: &ClaudeMessage<'_>) -> bool {
    message.content.is_some_and(|content| {
        memchr::memmem::find(content.get().as_bytes(), CONTINUATION.as_bytes()).is_some()
            && joined_texts(Some(content), &["text"]).starts_with(CONTINUATION)
    })
}

/// Emits the tool results of a line, and its text unless the program wrote it.
fn emit_user_line(
    place: &LineContext,
    message: &ClaudeMessage<'_>,
    line: &ClaudeLine<'_>,
    out: EventSink<'_>,
) {
    let is_said = line.tool_use_result.is_none() && !is_of_program(line, message);
    let has_result = is_object(line.tool_use_result);
    let mut words: Vec<String> = Vec::new();
    let mut add = |text: &str, out: EventSink<'_>| match shell_event(place, text) {
        Some((id, body)) => out(place.event(id, body)),
        None => words.extend(Some(person_words(text)).filter(|words| !words.is_empty())),
    };
    if let Some(text) = as_string(message.content) {
        add(&text, out);
    }
    let mut answers = false;
    for_each_element(message.content, &mut |raw| {
        let Some(block) = as_object::<ContentBlock<'_>>(Some(raw)) else {
            return;
        };
        match as_keyword(block.kind) {
            "text" => {
                if let Some(text) = as_string(block.text) {
                    add(&text, out);
                }
            }
            "tool_result" => {
                answers = true;
                emit_result(place, &block, has_result, out);
            }
            _ => {}
        }
    });
    // Text next to tool results is written by the program, not by a person.
    if is_said && !answers && !words.is_empty() {
        out(place.event(place.id.clone(), EventBody::Prompt(words.join("\n"))));
    }
}

/// Emits a tool result. A tool that was rejected has an error and no result of its own (`has_result`): a command may print
/// the words of a rejection.
fn emit_result(
    place: &LineContext,
    block: &ContentBlock<'_>,
    has_result: bool,
    out: EventSink<'_>,
) {
    let call = as_string(block.tool_use_id).unwrap_or_default();
    let text = joined_texts(block.content, &["text"]);
    let is_stopped = is_true(block.is_error)
        && !has_result
        && REJECTED.iter().any(|start| text.starts_with(start));
    let outcome = match (is_true(block.is_error), is_stopped) {
        (_, true) => ToolOutcome::Rejected,
        (true, false) => ToolOutcome::Failed,
        (false, false) => ToolOutcome::Succeeded,
    };
    let body = EventBody::Result {
        call: call.clone(),
        outcome,
        text,
    };
    out(place.event(format!("result {call}"), body));
}

fn parse_usage(usage: Field<'_>) -> Option<Usage> {
    let tokens: ClaudeUsage<'_> = as_object(usage)?;
    Some(Usage {
        input: as_count(tokens.input_tokens) + as_count(tokens.cache_creation_input_tokens),
        cached: as_count(tokens.cache_read_input_tokens),
        output: as_count(tokens.output_tokens),
    })
}

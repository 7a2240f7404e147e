//! Transcripts of Codex ("rollouts"): each line is `{timestamp, type, payload}`.

mod line_fields;
mod tool_calls;

use crate::ProgramFolder;
use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, joined_texts, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, LineScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{EventBody, EventSink, TranscriptHeader};
use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;
use line_fields::{CodexLine, CodexPayload, CodexUsage, TokenInfo};
use tool_calls::{parse_call, parse_output};

/// Beginnings of user items that the program wrote.
const INJECTED: [&str; 7] = [
    HANDOVER,
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
];

/// Heading after which editors put the person's prompt.
const EDITOR_REQUEST_HEADING: &str = "## My request for Codex:";
/// Heading before what editors add to a prompt.
const EDITOR_CONTEXT_HEADING: &str = "# Context from my IDE setup:";
/// Beginning of the message in which a new context passes on the summary of the former one.
const HANDOVER: &str = "Another language model started to solve this problem";

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    folders: &[folder("sessions"), folder("archived_sessions")],
    read_only_tools: &["list_dir", "grep_files", "update_plan", "view_image"],
    ..TranscriptFormat::new(
        read_header,
        || Box::<CodexLineScan>::default(),
        |_, name| name.starts_with("rollout-") && name.ends_with(".jsonl"),
    )
};

const fn folder(inside: &'static str) -> ProgramFolder {
    ProgramFolder {
        variable: Some("CODEX_HOME"),
        below_home: ".codex",
        inside,
    }
}

/// Reads the header from a line; returns true if the header is complete.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(line) = parse_object::<CodexLine<'_>>(text) else {
        return false;
    };
    if as_keyword(line.kind) != "session_meta" {
        return false;
    }
    let Some(meta) = as_object::<CodexPayload<'_>>(line.payload) else {
        return false;
    };
    head.session = as_nonblank_string(meta.id);
    head.folder = as_nonblank_string(meta.cwd);
    head.began = as_time(meta.timestamp).or_else(|| as_time(line.timestamp));
    let is_subagent = (meta.source).is_some_and(|raw| raw.get().starts_with("{\"subagent\""));
    head.agent = head.session.clone().filter(|_| is_subagent);
    true
}

/// Scan for turns that were rolled back, and for prompt events.
#[derive(Debug, Default)]
struct CodexLineScan {
    prompts: Vec<u64>,
    lines: Vec<u64>,
    superseded: Vec<u64>,
    has_rollback: bool,
}

impl LineScan for CodexLineScan {
    fn read_line(&mut self, at: u64, text: &str) {
        self.lines.push(at);
        // A substring test avoids parsing most lines.
        let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if !has("\"event_msg\"") || !(has("\"user_message\"") || has("\"thread_rolled_back\"")) {
            return;
        }
        let Ok(line) = parse_object::<CodexLine<'_>>(text) else {
            return;
        };
        if as_keyword(line.kind) != "event_msg" {
            return;
        }
        let Some(event) = as_object::<CodexPayload<'_>>(line.payload) else {
            return;
        };
        match as_keyword(event.kind) {
            "user_message" => self.prompts.push(at),
            "thread_rolled_back" => {
                self.has_rollback = true;
                let turns = usize::try_from(as_count(event.num_turns)).unwrap_or(usize::MAX);
                let left = self.prompts.len().saturating_sub(turns);
                if let Some(&from) = self.prompts.get(left) {
                    let first = self.lines.partition_point(|at| *at < from);
                    self.superseded.extend(self.lines.drain(first..));
                    self.prompts.truncate(left);
                }
            }
            _ => {}
        }
    }

    fn needs_earlier_lines(&self) -> bool {
        self.has_rollback || self.prompts.is_empty()
    }

    fn finish(self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        let reader = Codex {
            has_prompts: !self.prompts.is_empty(),
        };
        let mut superseded = self.superseded;
        superseded.sort_unstable();
        (superseded, Box::new(reader))
    }
}

/// Event parser of a Codex transcript.
#[derive(Debug)]
struct Codex {
    /// True if prompts are recorded as events. Otherwise they are items, mixed with injected ones.
    has_prompts: bool,
}

impl EventReader for Codex {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        let line: CodexLine<'_> = parse_object(text).ok()?;
        let when = as_time(line.timestamp);
        let kind = as_keyword(line.kind);
        if !matches!(kind, "response_item" | "event_msg" | "compacted") {
            return Some(());
        }
        let Some(payload) = as_object::<CodexPayload<'_>>(line.payload) else {
            return Some(());
        };
        let id = at.to_string();
        match kind {
            "compacted" => {
                let summary = as_nonblank_string(payload.message)
                    .and_then(|message| without_handover(&message))
                    .or_else(|| handed_over_summary(payload.replacement_history));
                if let Some(summary) = summary {
                    out(main_agent_event(id, when, EventBody::Summary(summary)));
                }
            }
            "event_msg" => self.emit_event(id, when, &payload, out),
            _ => self.emit_item(id, when, &payload, out),
        }
        Some(())
    }
}

impl Codex {
    fn emit_event(
        &self,
        id: String,
        at: Option<Timestamp>,
        event: &CodexPayload<'_>,
        out: EventSink<'_>,
    ) {
        match as_keyword(event.kind) {
            "user_message" => {
                if let Some(message_text) = as_string(event.message) {
                    emit_prompt(id, at, &message_text, out);
                }
            }
            "token_count" => {
                let info = as_object::<TokenInfo<'_>>(event.info);
                if let Some(used) = info.and_then(|info| parse_usage(info.last_token_usage)) {
                    out(main_agent_event(id, at, EventBody::TokenUsage(used)));
                }
            }
            _ => {}
        }
    }

    fn emit_item(
        &self,
        id: String,
        at: Option<Timestamp>,
        item: &CodexPayload<'_>,
        out: EventSink<'_>,
    ) {
        let call = || as_nonblank_string(item.call_id).unwrap_or_else(|| id.clone());
        match as_keyword(item.kind) {
            "message" => match as_keyword(item.role) {
                "assistant" => {
                    let message_text = joined_texts(item.content, &["output_text", "text"]);
                    if !message_text.trim().is_empty() {
                        out(main_agent_event(
                            id,
                            at,
                            EventBody::AssistantText(message_text),
                        ));
                    }
                }
                "user" if !self.has_prompts => {
                    let message_text = joined_texts(item.content, &["input_text", "text"]);
                    if !INJECTED.iter().any(|start| message_text.starts_with(start)) {
                        emit_prompt(id, at, &message_text, out);
                    }
                }
                _ => {}
            },
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let (tool, action) = parse_call(item);
                let call = call();
                out(main_agent_event(
                    id,
                    at,
                    EventBody::Call { call, tool, action },
                ));
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let (outcome, text) = parse_output(item.output);
                let call = call();
                out(main_agent_event(
                    id,
                    at,
                    EventBody::Result {
                        call,
                        outcome,
                        text,
                    },
                ));
            }
            _ => {}
        }
    }
}

/// Returns the summary in the messages that replace a conversation, for versions that write it nowhere else.
fn handed_over_summary(history: Field<'_>) -> Option<String> {
    let mut summary = None;
    for_each_element(history, &mut |raw| {
        if let Some(item) = as_object::<CodexPayload<'_>>(Some(raw)) {
            let text = joined_texts(item.content, &["input_text", "text"]);
            if text.starts_with(HANDOVER) {
                summary = without_handover(&text);
            }
        }
    });
    summary
}

/// Returns a summary without the line that introduces it to the next model; `None` if nothing is left.
fn without_handover(text: &str) -> Option<String> {
    let summary = match text.split_once('\n') {
        Some((line, rest)) if line.starts_with(HANDOVER) => rest,
        None if text.starts_with(HANDOVER) => "",
        Some(_) | None => text,
    };
    let summary = summary.trim();
    (!summary.is_empty()).then(|| summary.to_owned())
}

fn emit_prompt(id: String, at: Option<Timestamp>, message_text: &str, out: EventSink<'_>) {
    let message_text = match message_text.split_once(EDITOR_REQUEST_HEADING) {
        Some((_, request)) => request,
        None if message_text.starts_with(EDITOR_CONTEXT_HEADING) => "",
        None => message_text,
    };
    let message_text = message_text.trim();
    if !message_text.is_empty() {
        out(main_agent_event(
            id,
            at,
            EventBody::Prompt(message_text.to_owned()),
        ));
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

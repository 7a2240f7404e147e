//! Transcripts of Codex ("rollouts"): each line is `{timestamp, type, payload}`.

mod lines;

use crate::ProgramFolder;
use crate::json_fields::{
    Field, as_count, as_integer, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, joined_texts, parse_object,
};
use crate::transcripts::patched_files;
use crate::transcripts::recorded_commands::command_from_words;
use crate::transcripts::transcript_format::{EventReader, LineScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{
    EventBody, EventSink, FileEdit, ToolAction, ToolOutcome, TranscriptHeader, call_line,
};
use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;
use lines::{
    CallArguments, CallOutput, CodexLine, CodexPayload, CodexUsage, OutputMetadata, TokenInfo,
};

/// Beginnings of user items that the program wrote.
const INJECTED: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
];

/// Heading after which editors put the person's prompt.
const EDITOR_REQUEST_HEADING: &str = "## My request for Codex:";

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
                if let Some(message_text) = as_nonblank_string(payload.message) {
                    out(main_agent_event(id, when, EventBody::Summary(message_text)));
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

fn emit_prompt(id: String, at: Option<Timestamp>, message_text: &str, out: EventSink<'_>) {
    let message_text = message_text
        .split_once(EDITOR_REQUEST_HEADING)
        .map_or(message_text, |(_, request)| request);
    let message_text = message_text.trim();
    if !message_text.is_empty() {
        out(main_agent_event(
            id,
            at,
            EventBody::Prompt(message_text.to_owned()),
        ));
    }
}

/// Returns the tool that an item calls and the purpose of the call.
fn parse_call(item: &CodexPayload<'_>) -> (String, ToolAction) {
    if as_keyword(item.kind) == "local_shell_call" {
        let action = as_object::<CallArguments<'_>>(item.action);
        let command = action.and_then(|action| command_text(action.command));
        let action = command.map_or_else(|| ToolAction::Other(String::new()), shell_action);
        return ("shell".to_owned(), action);
    }
    let tool = as_string(item.name).unwrap_or_default();
    if let Some(input) = as_string(item.input) {
        let action = match patched_files(&input) {
            files if files.is_empty() => ToolAction::Other(call_line(&input)),
            files => ToolAction::Edit(files.into_iter().map(FileEdit::of_path).collect()),
        };
        return (tool, action);
    }
    let arguments = as_string(item.arguments).unwrap_or_default();
    let read = parse_object::<CallArguments<'_>>(&arguments).ok();
    let command = read.as_ref().and_then(|read| {
        command_text(read.command)
            .or_else(|| as_nonblank_string(read.cmd))
            .or_else(|| as_nonblank_string(read.input).filter(|_| tool == "apply_patch"))
    });
    let action = match command {
        Some(command) => shell_action(command),
        None => ToolAction::Other(call_line(&arguments)),
    };
    (tool, action)
}

/// Returns the action of a command, which may apply a patch.
fn shell_action(command: String) -> ToolAction {
    if command.contains("*** Begin Patch") {
        let files = patched_files(&command);
        if !files.is_empty() {
            return ToolAction::Edit(files.into_iter().map(FileEdit::of_path).collect());
        }
    }
    ToolAction::Command(command)
}

/// Returns a command, given as one string or as words.
fn command_text(field: Field<'_>) -> Option<String> {
    if let Some(command) = as_nonblank_string(field) {
        return Some(command);
    }
    let mut words = Vec::new();
    for_each_element(field, &mut |raw| words.extend(as_string(Some(raw))));
    command_from_words(&words)
}

/// Returns the outcome of a call and its output.
fn parse_output(output: Field<'_>) -> (ToolOutcome, String) {
    let text = match as_string(output) {
        Some(text) => text,
        None => match as_object::<CallOutput<'_>>(output) {
            Some(answer) => return parse_output_object(&answer),
            None => joined_texts(output, &["input_text", "output_text", "text"]),
        },
    };
    if let Ok(answer) = parse_object::<CallOutput<'_>>(&text)
        && (answer.output.is_some() || answer.metadata.is_some())
    {
        return parse_output_object(&answer);
    }
    // A call that the sandbox denied is repeated with approval; it reveals nothing about the command.
    let stopped = ["aborted", "exec command rejected", "failed in sandbox"];
    let outcome = match exit_code(&text) {
        Some(code) if code != 0 => ToolOutcome::Failed,
        _ if stopped.iter().any(|start| text.starts_with(start)) => ToolOutcome::Rejected,
        _ if text.starts_with("failed") || text.starts_with("execution error") => {
            ToolOutcome::Failed
        }
        Some(_) | None => ToolOutcome::Succeeded,
    };
    // Newer versions put a few lines before the output.
    let message_text = match text.split_once("\nOutput:\n") {
        Some((lead, message_text)) if lead.len() < 400 => message_text.to_owned(),
        _ => text,
    };
    (outcome, message_text)
}

fn parse_output_object(answer: &CallOutput<'_>) -> (ToolOutcome, String) {
    let metadata = as_object::<OutputMetadata<'_>>(answer.metadata);
    let code = metadata.and_then(|metadata| as_integer(metadata.exit_code));
    let says_no = answer.success.is_some_and(|raw| raw.get() == "false");
    let outcome = match says_no || code.is_some_and(|code| code != 0) {
        true => ToolOutcome::Failed,
        false => ToolOutcome::Succeeded,
    };
    let kinds = ["input_text", "output_text", "text"];
    let message_text = [answer.output, answer.content]
        .into_iter()
        .find(Option::is_some);
    (outcome, joined_texts(message_text.flatten(), &kinds))
}

/// Returns the exit code in one of the first lines.
fn exit_code(text: &str) -> Option<i64> {
    let marks = ["Exit code: ", "Process exited with code "];
    text.lines().take(6).find_map(|line| {
        let code = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        code.trim().parse().ok()
    })
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

//! Transcripts of Codex ("rollouts"): each line is `{timestamp, type, payload}`.

mod line_fields;
mod tool_calls;
mod turn_places;

use crate::json_fields::{
    Field, as_count, as_keyword, as_nonblank_string, as_object, as_string, as_time,
    for_each_element, joined_texts, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, LineScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{
    ConversationOrigin, EventBody, EventSink, TranscriptEvent, TranscriptHeader, TurnAuthor,
};
use crate::{AgentProgram, ProgramFolder};
use heirloom_model::Timestamp;
use heirloom_model::event_stream::Usage;
use line_fields::{CodexLine, CodexPayload, CodexUsage, TokenInfo};
use tool_calls::{parse_call, parse_output};
use turn_places::TurnPlaces;

/// Beginning of the message in which a new context passes on the summary of the former one.
const HANDOVER: &str = "Another language model started to solve this problem";

/// Ways in which a person starts the program: 0.39 to 0.169. Others, such as `exec` and `mcp`, are those of scripts and of
/// other agents.
const PERSON_SOURCES: [&str; 2] = ["cli", "vscode"];
/// Parts of the names of programs that start it without a person.
const SCRIPT_ORIGINATORS: [&str; 4] = ["exec", "sdk", "mcp", "action"];
/// Kind of a message that a person typed, in versions that name it.
const TYPED_MESSAGE: &str = "plain";

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

/// Reads the header from a line; returns true if the header is complete. A fork has the first line of each conversation
/// that it copies after its own.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Ok(line) = parse_object::<CodexLine<'_>>(text) else {
        return false;
    };
    if as_keyword(line.kind) != "session_meta" {
        return head.session.is_some();
    }
    let Some(meta) = as_object::<CodexPayload<'_>>(line.payload) else {
        return false;
    };
    let began = as_time(meta.timestamp).or_else(|| as_time(line.timestamp));
    let id = as_nonblank_string(meta.id);
    let parent = as_nonblank_string(meta.forked_from);
    if head.session.is_none() {
        head.session.clone_from(&id);
        head.folder = as_nonblank_string(meta.cwd);
        head.began = began;
        let is_subagent = (meta.source).is_some_and(|raw| raw.get().starts_with("{\"subagent\""));
        head.agent = head.session.clone().filter(|_| is_subagent);
        head.author = author_of_start(&meta);
    }
    let is_original = parent.is_none();
    let began = match &parent {
        // Only the line of the original has its time.
        Some(parent) => time_of_id(parent).or(began),
        None => began,
    };
    let origin = parent.or(id).zip(began);
    head.origin = origin.map(|(session, began)| ConversationOrigin { session, began });
    is_original
}

/// Returns the author of the prompts of a conversation by the way in which it was started.
fn author_of_start(meta: &CodexPayload<'_>) -> TurnAuthor {
    let originator = as_keyword(meta.originator);
    let is_script = SCRIPT_ORIGINATORS
        .iter()
        .any(|name| originator.split(['_', '-', ' ']).any(|word| word == *name));
    let is_person = meta.source.is_none() || PERSON_SOURCES.contains(&as_keyword(meta.source));
    match is_person && !is_script {
        true => TurnAuthor::Person,
        false => TurnAuthor::Other,
    }
}

/// Returns the time in a conversation's id, a UUID of version 7.
fn time_of_id(id: &str) -> Option<Timestamp> {
    let digits = id.replace('-', "");
    if digits.len() != 32 || digits.get(12..13) != Some("7") {
        return None;
    }
    let milliseconds = i64::from_str_radix(digits.get(..12)?, 16).ok()?;
    Timestamp::from_millisecond(milliseconds).ok()
}

/// Scan for turns that were rolled back, for prompt events, and for the places of turns.
#[derive(Debug, Default)]
struct CodexLineScan {
    prompts: Vec<u64>,
    lines: Vec<u64>,
    superseded: Vec<u64>,
    has_rollback: bool,
    places: TurnPlaces,
}

impl LineScan for CodexLineScan {
    fn read_line(&mut self, at: u64, text: &str) {
        self.lines.push(at);
        // Substring tests avoid parsing most lines.
        let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if has("_call\"") {
            self.places.add_call(at);
        }
        let is_event = has("\"event_msg\"")
            && [
                "\"user_message\"",
                "\"thread_rolled_back\"",
                "\"task_started\"",
            ]
            .into_iter()
            .any(has);
        if !is_event && !has("\"turn_context\"") && !has("\"session_meta\"") {
            if has("\"message\"") {
                self.places.add_entry();
            }
            return;
        }
        let Ok(line) = parse_object::<CodexLine<'_>>(text) else {
            return;
        };
        let Some(payload) = as_object::<CodexPayload<'_>>(line.payload) else {
            return;
        };
        match as_keyword(line.kind) {
            "event_msg" => self.read_event(at, &payload),
            "turn_context" => self.read_turn(at, &payload),
            "session_meta" => {
                let began = as_time(line.timestamp).or_else(|| as_time(payload.timestamp));
                if let (Some(own), Some(began)) = (as_nonblank_string(payload.id), began)
                    && as_nonblank_string(payload.forked_from).is_some()
                {
                    self.places.add_fork(own, began);
                }
            }
            _ => {}
        }
    }

    fn needs_earlier_lines(&self) -> bool {
        self.has_rollback || self.prompts.is_empty() || self.places.needs_earlier_lines()
    }

    fn finish(self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        let reader = Codex {
            has_prompts: !self.prompts.is_empty(),
            places: self.places,
        };
        let mut superseded = self.superseded;
        superseded.sort_unstable();
        (superseded, Box::new(reader))
    }
}

impl CodexLineScan {
    fn read_event(&mut self, at: u64, event: &CodexPayload<'_>) {
        match as_keyword(event.kind) {
            "user_message" => {
                self.prompts.push(at);
                self.places.add_prompt(at);
            }
            "task_started" => self.read_turn(at, event),
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

    fn read_turn(&mut self, at: u64, payload: &CodexPayload<'_>) {
        if let Some(turn) = as_nonblank_string(payload.turn) {
            self.places.add_turn(at, turn);
        }
    }
}

/// Event parser of a Codex transcript.
#[derive(Debug)]
struct Codex {
    /// True if prompts are recorded as events. Otherwise they are items, mixed with injected ones.
    has_prompts: bool,
    places: TurnPlaces,
}

impl EventReader for Codex {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        let line: CodexLine<'_> = parse_object(text).ok()?;
        let kind = as_keyword(line.kind);
        if !matches!(kind, "response_item" | "event_msg" | "compacted") {
            return Some(());
        }
        let Some(payload) = as_object::<CodexPayload<'_>>(line.payload) else {
            return Some(());
        };
        let place = self.place(at, &line);
        match kind {
            "compacted" => {
                let summary = as_nonblank_string(payload.message)
                    .and_then(|message| without_handover(&message))
                    .or_else(|| handed_over_summary(payload.replacement_history));
                if let Some(summary) = summary {
                    let id = self.places.entry_id(at, place.when, &summary);
                    out(place.event(id, EventBody::Summary(summary)));
                }
            }
            "event_msg" => self.emit_event(&place, &payload, out),
            _ => self.emit_item(&place, &payload, out),
        }
        Some(())
    }

    fn read_superseded_line(&mut self, at: u64, text: &str, out: EventSink<'_>) {
        let Ok(line) = parse_object::<CodexLine<'_>>(text) else {
            return;
        };
        let payload = as_object::<CodexPayload<'_>>(line.payload);
        let event = payload.filter(|_| as_keyword(line.kind) == "event_msg");
        if let Some(event) = event.filter(|event| as_keyword(event.kind) == "user_message") {
            self.emit_event(&self.place(at, &line), &event, &mut |event| {
                if let EventBody::Prompt(words) = event.body {
                    let body = EventBody::AbandonedPrompt(words);
                    out(TranscriptEvent { body, ..event });
                }
            });
        }
    }
}

/// Offset and time of a line.
struct LinePlace {
    at: u64,
    when: Option<Timestamp>,
    /// True if a fork copied the line. Its time is that of the copy.
    is_copied: bool,
}

impl LinePlace {
    fn event(&self, id: String, body: EventBody) -> TranscriptEvent {
        main_agent_event(id, self.when.filter(|_| !self.is_copied), body)
    }
}

impl Codex {
    /// Returns the offset and time of a line.
    fn place(&self, at: u64, line: &CodexLine<'_>) -> LinePlace {
        let when = as_time(line.timestamp);
        LinePlace {
            at,
            when,
            is_copied: self.places.is_copied(when),
        }
    }

    fn emit_event(&self, place: &LinePlace, event: &CodexPayload<'_>, out: EventSink<'_>) {
        match as_keyword(event.kind) {
            "user_message" if matches!(as_keyword(event.message_kind), "" | TYPED_MESSAGE) => {
                if let Some(message_text) = as_string(event.message) {
                    self.emit_prompt(place, &message_text, out);
                }
            }
            // The tokens of copied lines count in the original.
            "token_count" if !place.is_copied => {
                let info = as_object::<TokenInfo<'_>>(event.info);
                if let Some(used) = info.and_then(|info| parse_usage(info.last_token_usage)) {
                    out(place.event(place.at.to_string(), EventBody::TokenUsage(used)));
                }
            }
            _ => {}
        }
    }

    fn emit_item(&self, place: &LinePlace, item: &CodexPayload<'_>, out: EventSink<'_>) {
        let id = || self.places.entry_id(place.at, place.when, "");
        match as_keyword(item.kind) {
            "message" => match as_keyword(item.role) {
                "assistant" => {
                    let message_text = joined_texts(item.content, &["output_text", "text"]);
                    if !message_text.trim().is_empty() {
                        let id = self.places.entry_id(place.at, place.when, &message_text);
                        out(place.event(id, EventBody::AssistantText(message_text)));
                    }
                }
                "user" if !self.has_prompts => {
                    let message_text = joined_texts(item.content, &["input_text", "text"]);
                    self.emit_prompt(place, &message_text, out);
                }
                _ => {}
            },
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let (tool, action) = parse_call(item);
                let call = as_nonblank_string(item.call_id).unwrap_or_else(id);
                let name = format!("call {call}");
                out(place.event(name, EventBody::Call { call, tool, action }));
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let (outcome, text) = parse_output(item.output);
                let call = as_nonblank_string(item.call_id).unwrap_or_else(id);
                let name = format!("result {call}");
                let body = EventBody::Result {
                    call,
                    outcome,
                    text,
                };
                out(place.event(name, body));
            }
            _ => {}
        }
    }

    fn emit_prompt(&self, place: &LinePlace, message_text: &str, out: EventSink<'_>) {
        let words = AgentProgram::Codex.person_text(message_text);
        let words = words.trim();
        if !words.is_empty() {
            let id = self.places.entry_id(place.at, place.when, words);
            out(place.event(id, EventBody::Prompt(words.to_owned())));
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

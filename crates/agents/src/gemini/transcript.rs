//! Transcripts of Gemini CLI: a line is a message, an update of one, or a change of the conversation's metadata.
//! Older versions wrote one object with all messages, which is read as one line.

mod line_fields;
mod tool_calls;

use super::wrapping::without_tool_wrapping;
use crate::json_fields::{
    as_count, as_keyword, as_nonblank_string, as_object, as_string, as_time, for_each_element,
    parse_object,
};
use crate::transcripts::transcript_format::{EventReader, LineScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{EventBody, EventSink, TranscriptEvent, TranscriptHeader};
use crate::{AgentProgram, ProgramFolder};
use heirloom_fs::project_fs;
use heirloom_model::event_stream::Usage;
use heirloom_model::limits;
use line_fields::{GeminiCall, GeminiLine, GeminiMessage, GeminiUsage, SetUpdate};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use tool_calls::{emit_call, has_tool_result, message_text};

/// A question mark alone opens the help.
const HELP: &str = "?";
/// Beginning of the summary in the message that replaces earlier ones after a compression.
const SNAPSHOT: &str = "<state_snapshot>";
/// End of this summary.
const SNAPSHOT_END: &str = "</state_snapshot>";
/// Beginning of the model's notes before the summary.
const SCRATCHPAD: &str = "<scratchpad>";

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
    /// Those of them before whose message a person went back.
    rewound: HashSet<u64>,
}

impl LineScan for GeminiLineScan {
    fn read_line(&mut self, at: u64, text: &str) {
        let Ok(line) = parse_object::<GeminiLine<'_>>(text) else {
            return;
        };
        if let Some(to) = as_string(line.rewind) {
            let from = self.at.get(&to).copied().unwrap_or(0);
            let first = self.superseded.len();
            self.supersede_from(from);
            let rewound = self.superseded.get(first..).unwrap_or_default();
            self.rewound.extend(rewound);
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
        } else if let Some(messages) =
            as_object::<SetUpdate<'_>>(line.set).and_then(|set| set.messages)
        {
            self.supersede_repeated(messages);
        }
    }

    fn finish(mut self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        self.superseded.sort_unstable();
        let reader = Gemini {
            rewound: self.rewound,
        };
        (self.superseded, Box::new(reader))
    }
}

impl GeminiLineScan {
    /// Supersedes the messages that a new list repeats. Those that a compression left out were said all the same.
    fn supersede_repeated(&mut self, messages: &serde_json::value::RawValue) {
        let mut repeated = HashSet::new();
        for_each_element(Some(messages), &mut |raw| {
            let message = as_object::<GeminiMessage<'_>>(Some(raw));
            repeated.extend(message.and_then(|message| as_nonblank_string(message.id)));
        });
        self.at.clear();
        let known = self.order.drain(..);
        let again = known.filter(|(id, _)| repeated.contains(id));
        self.superseded.extend(again.map(|(_, at)| at));
    }

    fn supersede_from(&mut self, from: usize) {
        for (id, at) in self.order.drain(from.min(self.order.len())..) {
            self.at.remove(&id);
            self.superseded.push(at);
        }
    }
}

/// Event parser of a Gemini CLI transcript.
#[derive(Debug)]
struct Gemini {
    /// Offsets of the lines of abandoned messages.
    rewound: HashSet<u64>,
}

impl EventReader for Gemini {
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()> {
        read_line(at, text, out)
    }

    fn read_superseded_line(&mut self, at: u64, text: &str, out: EventSink<'_>) {
        if !self.rewound.contains(&at) {
            return;
        }
        read_line(at, text, &mut |event| {
            if let EventBody::Prompt(words) = event.body {
                let body = EventBody::AbandonedPrompt(words);
                out(TranscriptEvent { body, ..event });
            }
        });
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
    let message_text = message_text(message.content);
    let is_said = !message_text.trim().is_empty();
    match as_keyword(message.kind) {
        "user" if is_said => {
            let text = message_text.trim_start();
            if let Some(snapshot) = snapshot_of(text) {
                let summary = EventBody::Summary(snapshot.to_owned());
                out(main_agent_event(id, when, summary));
            } else if text.trim_end() != HELP && !is_tool_answer(message) {
                let words = AgentProgram::Gemini.person_text(&message_text);
                let words = words.trim();
                if !words.is_empty() {
                    out(main_agent_event(
                        id,
                        when,
                        EventBody::Prompt(words.to_owned()),
                    ));
                }
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
                let cached = as_count(tokens.cached);
                let used = Usage {
                    input: as_count(tokens.input).saturating_sub(cached),
                    cached,
                    output: as_count(tokens.output),
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

/// Returns true for a message with which the program answers a call of the model: text next to a result belongs to it.
fn is_tool_answer(message: &GeminiMessage<'_>) -> bool {
    has_tool_result(message.content) || has_tool_result(message.display)
}

/// Returns the summary in the message that replaces earlier ones: the program stores the model's answer as it is, with
/// notes before the summary or a fence around it.
fn snapshot_of(text: &str) -> Option<&str> {
    let start = text.rfind(SNAPSHOT)?;
    let snapshot = text.get(start..)?;
    let end = snapshot.rfind(SNAPSHOT_END);
    let is_last = end.is_some_and(|end| {
        let rest = snapshot.get(end + SNAPSHOT_END.len()..).unwrap_or_default();
        rest.trim_matches(|c: char| c == '`' || c.is_whitespace())
            .is_empty()
    });
    if !is_last && !text.starts_with(SNAPSHOT) && !text.starts_with(SCRATCHPAD) {
        return None;
    }
    let end = end.map_or(snapshot.len(), |end| end + SNAPSHOT_END.len());
    snapshot.get(..end)
}

//! Transcripts of aider, in Markdown: `#### ` begins text of the person, `> ` output of the program, all else is text
//! of the model.

use crate::transcripts::transcript_format::{EventReader, NoScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{EventBody, EventSink, ToolAction, ToolOutcome, TranscriptHeader};
use heirloom_model::Timestamp;
use std::path::Path;

/// Start of the line with the time at which a conversation began.
const SESSION_START: &str = "# aider chat started at ";
/// Start of a line that names a changed file.
const APPLIED_EDIT: &str = "> Applied edit to ";

/// Name of the file.
const HISTORY: &str = ".aider.chat.history.md";

/// Stored conversations.
pub(crate) const TRANSCRIPTS: TranscriptFormat = TranscriptFormat {
    project_file: Some(HISTORY),
    recorded_folder: |path, _| recorded_folder(path),
    // A turn has no end of its own: the last one is read again when the file grows.
    is_append_only: false,
    ..TranscriptFormat::new(
        read_header,
        || Box::new(NoScan(Aider::default())),
        |_, name| name == HISTORY,
    )
};

/// Returns the folder of the file.
fn recorded_folder(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    Some(path.parent()?.to_string_lossy().into_owned())
}

/// Reads the header from a line; returns true if the header is complete.
fn read_header(text: &str, head: &mut TranscriptHeader) -> bool {
    let Some(when) = text.strip_prefix(SESSION_START) else {
        return false;
    };
    head.began = parse_time(when);
    head.session = Some(session_name(when));
    true
}

/// Parses the time of a line. The file has no time zone; UTC is assumed.
fn parse_time(when: &str) -> Option<Timestamp> {
    let (day, time) = when.trim().split_once(' ')?;
    format!("{day}T{time}Z").parse().ok()
}

fn session_name(when: &str) -> String {
    let digits = when.trim().chars().map(|c| match c.is_ascii_digit() {
        true => c,
        false => '-',
    });
    let name: String = digits.take(40).collect();
    format!("aider-{name}")
}

/// Author of the current lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Speaker {
    #[default]
    None,
    Person,
    Model,
    Program,
}

/// Event parser of an aider transcript.
#[derive(Debug, Default)]
struct Aider {
    at: Option<Timestamp>,
    speaker: Speaker,
    began: u64,
    content: String,
    /// Id of the command that a person ran, until its output arrives.
    command: Option<String>,
    edits: Vec<String>,
}

impl EventReader for Aider {
    fn reads_blank_lines(&self) -> bool {
        true
    }

    fn read_line(&mut self, at: u64, line: &str, out: EventSink<'_>) -> Option<()> {
        self.add_line(at, line, out);
        Some(())
    }

    fn finish(&mut self, out: EventSink<'_>) {
        self.flush(out);
    }
}

impl Aider {
    fn add_line(&mut self, at: u64, line: &str, out: EventSink<'_>) {
        let line = line.trim_end_matches('\r');
        if let Some(when) = line.strip_prefix(SESSION_START) {
            self.flush(out);
            self.at = parse_time(when);
            let id = format!("begins {at}");
            out(main_agent_event(
                id,
                self.at,
                EventBody::ConversationStart(session_name(when)),
            ));
            return;
        }
        let (speaker, words) = if let Some(words) = line.strip_prefix("####") {
            (Speaker::Person, words.strip_prefix(' ').unwrap_or(words))
        } else if let Some(words) = line.strip_prefix('>') {
            (Speaker::Program, words.strip_prefix(' ').unwrap_or(words))
        } else if line.trim().is_empty() && self.speaker != Speaker::Model {
            return;
        } else {
            (Speaker::Model, line)
        };
        if speaker != self.speaker {
            self.flush(out);
            self.speaker = speaker;
            self.began = at;
        }
        if let Some(file) = line.strip_prefix(APPLIED_EDIT) {
            self.edits.push(file.trim().to_owned());
        }
        if self.content.len() < heirloom_model::limits::TRANSCRIPT_LINE_BYTES_MAX {
            self.content.push_str(words.trim_end());
            self.content.push('\n');
        }
    }

    /// Emits the pending text.
    fn flush(&mut self, out: EventSink<'_>) {
        let content = std::mem::take(&mut self.content);
        let content = content.trim();
        let id = self.began.to_string();
        match std::mem::take(&mut self.speaker) {
            Speaker::None => {}
            Speaker::Person => self.emit_person(id, content, out),
            Speaker::Model if content.is_empty() => {}
            Speaker::Model => out(main_agent_event(
                id,
                self.at,
                EventBody::AssistantText(content.to_owned()),
            )),
            Speaker::Program => {
                if let Some(call) = self.command.take() {
                    let (outcome, text) = (ToolOutcome::Rejected, content.to_owned());
                    out(main_agent_event(
                        id,
                        self.at,
                        EventBody::Result {
                            call,
                            outcome,
                            text,
                        },
                    ));
                }
            }
        }
        for file in std::mem::take(&mut self.edits) {
            out(main_agent_event(
                format!("{} {file}", self.began),
                self.at,
                EventBody::FileChanged(file),
            ));
        }
    }

    fn emit_person(&mut self, id: String, content: &str, out: EventSink<'_>) {
        let run = ["/run ", "/test ", "!"];
        if let Some(command) = run.iter().find_map(|start| content.strip_prefix(start)) {
            self.command = Some(id.clone());
            let action = ToolAction::Command(command.trim().to_owned());
            let (call, tool) = (id.clone(), "run".to_owned());
            return out(main_agent_event(
                id,
                self.at,
                EventBody::Call { call, tool, action },
            ));
        }
        let prompt_commands = ["/ask ", "/code ", "/architect "];
        let content = prompt_commands
            .iter()
            .find_map(|start| content.strip_prefix(start))
            .unwrap_or(content);
        if !content.is_empty() && !content.starts_with('/') {
            out(main_agent_event(
                id,
                self.at,
                EventBody::Prompt(content.to_owned()),
            ));
        }
    }
}

//! Transcripts of aider, in Markdown: `#### ` begins text of the person, `> ` output of the program, all else is text
//! of the model.

mod edit_blocks;

use crate::transcripts::transcript_format::{EventReader, NoScan, TranscriptFormat};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{
    EventBody, EventSink, FileEdit, ToolAction, ToolOutcome, TranscriptHeader,
};
use edit_blocks::edit_blocks;
use heirloom_model::Timestamp;
use std::path::Path;

/// Start of the line with the time at which a conversation began.
const SESSION_START: &str = "# aider chat started at ";
/// Start of a line that names a changed file.
const APPLIED_EDIT: &str = "> Applied edit to ";

/// Start of the line after the output of a command that was added to the chat.
const OUTPUT_ADDED: &str = "Added ";

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
    /// Command that a person ran, until its output arrives.
    command: Option<RunCommand>,
    /// True if this version notes that it added the output of a failed test.
    notes_added_output: bool,
    /// Edits that the model's last text shows.
    shown_edits: Vec<FileEdit>,
    /// Files that the program changed.
    edits: Vec<String>,
}

/// A command that a person ran.
#[derive(Debug)]
struct RunCommand {
    id: String,
    /// True for `/test`, whose output is added only if the command fails.
    is_test: bool,
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
        } else if let Some(words) = line.strip_prefix('>').filter(|rest| !rest.starts_with('>')) {
            // More than one begins the last line of a search and replace block.
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
            Speaker::Model => {
                self.shown_edits = edit_blocks(content);
                let body = EventBody::AssistantText(content.to_owned());
                out(main_agent_event(id, self.at, body));
            }
            Speaker::Program => {
                if let Some(command) = self.command.take() {
                    let body = EventBody::Result {
                        outcome: self.outcome(&command, content),
                        call: command.id,
                        text: content.to_owned(),
                    };
                    out(main_agent_event(id, self.at, body));
                }
            }
        }
        for file in std::mem::take(&mut self.edits) {
            self.emit_edit(file, out);
        }
    }

    /// Returns the outcome of a command. The file has it only for tests of newer versions.
    fn outcome(&mut self, command: &RunCommand, output: &str) -> ToolOutcome {
        let mut lines = output.lines();
        let is_added =
            lines.any(|line| line.starts_with(OUTPUT_ADDED) && line.contains(" lines of output"));
        self.notes_added_output |= is_added;
        match (command.is_test, is_added, self.notes_added_output) {
            (true, true, _) => ToolOutcome::Failed,
            (true, false, true) => ToolOutcome::Succeeded,
            _ => ToolOutcome::Rejected,
        }
    }

    /// Emits a change of a file, with its content if the model's text shows it.
    fn emit_edit(&mut self, file: String, out: EventSink<'_>) {
        let id = format!("{} {file}", self.began);
        let mut edit: Option<FileEdit> = None;
        self.shown_edits.retain(|shown| {
            let is_other = shown.path != file;
            if !is_other {
                edit.get_or_insert_with(|| FileEdit::of_path(file.clone()))
                    .add_replacement(&shown.removed, &shown.added);
            }
            is_other
        });
        let Some(edit) = edit else {
            return out(main_agent_event(id, self.at, EventBody::FileChanged(file)));
        };
        let call = EventBody::Call {
            call: id.clone(),
            tool: "edit".to_owned(),
            action: ToolAction::Edit(vec![edit]),
        };
        out(main_agent_event(format!("call {id}"), self.at, call));
        let result = EventBody::Result {
            call: id.clone(),
            outcome: ToolOutcome::Succeeded,
            text: String::new(),
        };
        out(main_agent_event(format!("result {id}"), self.at, result));
    }

    fn emit_person(&mut self, id: String, content: &str, out: EventSink<'_>) {
        let run = ["/run ", "/test ", "!"];
        if let Some(command) = run.iter().find_map(|start| content.strip_prefix(start)) {
            self.command = Some(RunCommand {
                id: id.clone(),
                is_test: content.starts_with("/test"),
            });
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

//! Format of a program's transcripts, and the interface of its parsers.

use super::{EventSink, TurnAuthor};
use crate::{AgentProgram, ProgramFolder};
use heirloom_model::Timestamp;
use std::borrow::Cow;
use std::fmt::Debug;
use std::path::Path;

/// Header of a transcript: its conversation and working folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptHeader {
    /// The program's id of the conversation.
    pub session: Option<String>,
    /// Working folder in which the conversation began.
    pub folder: Option<String>,
    /// SHA-256 of the working folder, if the program records only that.
    pub folder_hash: Option<String>,
    /// The subagent whose conversation it is.
    pub agent: Option<String>,
    /// Author of its prompts, if the program records for the whole conversation who started it.
    pub author: TurnAuthor,
    /// Start time.
    pub began: Option<Timestamp>,
    /// The conversation whose entries this one repeats at its beginning, or this one itself; `None` if the program copies
    /// the ids of entries and their times.
    pub origin: Option<ConversationOrigin>,
}

/// First one of the conversations that were forked from each other, by which all of them identify their entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationOrigin {
    /// The program's id of the conversation.
    pub session: String,
    /// Its start time.
    pub began: Timestamp,
}

/// Transcripts of one program: places, names and parsers.
pub struct TranscriptFormat {
    /// Folders with the transcripts of all projects.
    pub folders: &'static [ProgramFolder],
    /// Beginning of the names of folders inside [`Self::folders`] in which hooks copy conversations during a call.
    pub copy_folder_prefix: Option<&'static str>,
    /// Name of the file in a project's root, if the program keeps its transcripts there.
    pub project_file: Option<&'static str>,
    /// Returns true for a file of this format by its path and its name without `.gz`.
    pub is_transcript: fn(&Path, &str) -> bool,
    /// Returns the working folder in which the conversation in a file was recorded.
    pub(crate) recorded_folder: fn(&Path, &TranscriptHeader) -> Option<String>,
    /// True if a file with several lines only grows, so that reading can continue at its end.
    pub(crate) is_append_only: bool,
    /// Removes what the program adds to the output of a tool.
    pub(crate) clean_output: for<'t> fn(&'t str) -> Cow<'t, str>,
    /// Tools that only read the project or maintain a to-do list.
    pub(crate) read_only_tools: &'static [&'static str],
    /// Reads the header from a line; returns true if the header is complete.
    pub(crate) read_header: fn(&str, &mut TranscriptHeader) -> bool,
    /// Creates the scan of a file.
    pub(crate) start_scan: fn() -> Box<dyn LineScan>,
}

impl TranscriptFormat {
    /// Returns a format whose files name the folder, only grow, and contain texts without additions.
    pub(crate) const fn new(
        read_header: fn(&str, &mut TranscriptHeader) -> bool,
        start_scan: fn() -> Box<dyn LineScan>,
        is_transcript: fn(&Path, &str) -> bool,
    ) -> Self {
        Self {
            folders: &[],
            copy_folder_prefix: None,
            project_file: None,
            is_transcript,
            recorded_folder: |_, head| head.folder.clone(),
            is_append_only: true,
            clean_output: |text| Cow::Borrowed(text),
            read_only_tools: &[],
            read_header,
            start_scan,
        }
    }
}

impl AgentProgram {
    /// Returns true if a transcript with several lines only grows.
    pub fn appends_transcripts(self) -> bool {
        self.transcripts()
            .is_some_and(|format| format.is_append_only)
    }

    /// Returns the working folder in which the conversation in a file was recorded.
    pub fn recorded_folder(self, path: &Path, head: &TranscriptHeader) -> Option<String> {
        (self.transcripts()?.recorded_folder)(path, head)
    }

    /// Removes what the program adds to the output of a tool.
    pub fn clean_output<'t>(self, text: &'t str) -> Cow<'t, str> {
        self.transcripts()
            .map_or(Cow::Borrowed(text), |format| (format.clean_output)(text))
    }
}

/// Returns true for a tool that only reads the project, in any program.
pub fn is_read_only_tool(tool: &str) -> bool {
    AgentProgram::with_transcripts()
        .filter_map(AgentProgram::transcripts)
        .any(|format| format.read_only_tools.contains(&tool))
}

/// First pass over the lines of a file: finds lines that later lines supersede.
pub(crate) trait LineScan: Debug {
    /// Returns true if the format can have superseded lines.
    fn is_needed(&self) -> bool {
        true
    }

    /// Reads the line before the first one, for a format whose lines name the line that they continue.
    fn read_line_before(&mut self, _at: u64, _text: &str) {}

    /// Reads the line at offset `at`.
    fn read_line(&mut self, at: u64, text: &str);

    /// Returns true if the lines before the first one that was read can change the result of the second pass over the
    /// lines that were read.
    fn needs_earlier_lines(&self) -> bool {
        true
    }

    /// Returns the offsets of superseded lines, in order, and the parser of the second pass.
    fn finish(self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>);
}

/// Second pass over the lines of a file: parses events.
pub(crate) trait EventReader: Debug {
    /// Returns true if blank lines matter.
    fn reads_blank_lines(&self) -> bool {
        false
    }

    /// Emits the events of the line at offset `at`; `None` if the program does not write such a line.
    fn read_line(&mut self, at: u64, text: &str, out: EventSink<'_>) -> Option<()>;

    /// Emits the prompt of a person on a superseded line, if the line is not a former version of a message that stays.
    fn read_superseded_line(&mut self, _at: u64, _text: &str, _out: EventSink<'_>) {}

    /// Emits pending events at the end of the file.
    fn finish(&mut self, _out: EventSink<'_>) {}
}

/// Scan for a format without superseded lines.
#[derive(Debug)]
pub(crate) struct NoScan<R>(pub(crate) R);

impl<R: EventReader + 'static> LineScan for NoScan<R> {
    fn is_needed(&self) -> bool {
        false
    }

    fn read_line(&mut self, _at: u64, _text: &str) {}

    fn finish(self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        (Vec::new(), Box::new(self.0))
    }
}

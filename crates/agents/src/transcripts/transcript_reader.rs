//! Common interface to the programs' transcript formats.

use super::transcript_format::{EventReader, LineScan, NoScan, TranscriptHeader};
use super::{EventSink, TranscriptEvent};
use crate::AgentProgram;
use heirloom_model::Timestamp;
use heirloom_model::limits::TRANSCRIPT_HEAD_BYTES_MAX;
use heirloom_model::text_decoding::decode_text;
use serde_json::value::RawValue;

/// Ends of an object with the beginning of another one.
const GLUES: [&str; 4] = ["}{", "} {", "}\u{feff}", "}\u{1e}"];

/// Reads a header from as few lines as possible.
#[derive(Debug)]
pub struct HeaderReader {
    program: AgentProgram,
    head: TranscriptHeader,
    read: usize,
}

impl HeaderReader {
    /// Creates a reader at the beginning of a file.
    pub fn new(program: AgentProgram) -> Self {
        let head = TranscriptHeader::default();
        Self {
            program,
            head,
            read: 0,
        }
    }

    /// Reads a line; returns true if another line is needed.
    pub fn read_line(&mut self, line: &[u8]) -> bool {
        self.read += line.len() + 1;
        let format = self.program.transcripts();
        let mut done = false;
        each_object(0, &decode_text(line), &mut |_, text| {
            done = done || format.is_some_and(|format| (format.read_header)(text, &mut self.head));
        });
        !done && self.read < TRANSCRIPT_HEAD_BYTES_MAX
    }

    /// Returns the header; `None` if the file is not a transcript of this program.
    pub fn finish(self) -> Option<TranscriptHeader> {
        self.head.session.is_some().then_some(self.head)
    }
}

/// First pass over a whole file: finds lines that later lines supersede.
#[derive(Debug)]
pub struct SupersededLineScan(Box<dyn LineScan>);

impl SupersededLineScan {
    /// Creates a scan at the beginning of a file. A program without transcripts has no readable lines.
    pub fn new(program: AgentProgram) -> Self {
        Self(match program.transcripts() {
            Some(format) => (format.start_scan)(),
            None => Box::new(NoScan(Unreadable)),
        })
    }

    /// Returns true if the format can have superseded lines; otherwise the first pass can be skipped.
    pub fn is_needed(&self) -> bool {
        self.0.is_needed()
    }

    /// Reads the line before the first one that the scan reads, so that it knows whether the lines continue it.
    pub fn read_line_before(&mut self, at: u64, line: &[u8]) {
        each_object(at, &decode_text(line), &mut |at, text| {
            self.0.read_line_before(at, text);
        });
    }

    /// Reads the line at offset `at`.
    pub fn read_line(&mut self, at: u64, line: &[u8]) {
        each_object(at, &decode_text(line), &mut |at, text| {
            self.0.read_line(at, text)
        });
    }

    /// Returns true if the scan began inside the file and has to be repeated from its beginning, because a line refers to
    /// lines before the first one that was read.
    pub fn needs_earlier_lines(&self) -> bool {
        self.0.needs_earlier_lines()
    }

    /// Returns the reader of the second pass.
    pub fn into_reader(self) -> TranscriptReader {
        let (superseded, form) = self.0.finish();
        TranscriptReader {
            superseded,
            form,
            unreadable: 0,
        }
    }
}

/// Parser for a program without transcripts.
#[derive(Debug)]
struct Unreadable;

impl EventReader for Unreadable {
    fn read_line(&mut self, _at: u64, _text: &str, _out: EventSink<'_>) -> Option<()> {
        None
    }
}

/// Second pass: emits the events of a file, line by line.
#[derive(Debug)]
pub struct TranscriptReader {
    /// Offsets of superseded lines, in order.
    superseded: Vec<u64>,
    form: Box<dyn EventReader>,
    unreadable: u64,
}

impl TranscriptReader {
    /// Reads the line at offset `at`; returns true if it was readable.
    pub fn read_line(&mut self, at: u64, line: &[u8], out: EventSink<'_>) -> bool {
        let mut is_readable = true;
        each_object(at, &decode_text(line), &mut |at, text| {
            is_readable &= self.read_object(at, text, out);
        });
        is_readable
    }

    fn read_object(&mut self, at: u64, text: &str, out: EventSink<'_>) -> bool {
        if self.superseded.binary_search(&at).is_ok() {
            self.form.read_superseded_line(at, text, out);
            return true;
        }
        if text.trim().is_empty() && !self.form.reads_blank_lines() {
            return true;
        }
        let read = self.form.read_line(at, text, out);
        self.unreadable += u64::from(read.is_none());
        read.is_some()
    }

    /// Emits pending events at the end of the file.
    pub fn finish(&mut self, out: EventSink<'_>) {
        self.form.finish(out);
    }

    /// Returns the number of superseded lines before an offset. A survey that began later does not know them.
    pub fn superseded_before(&self, offset: u64) -> usize {
        self.superseded.partition_point(|at| *at < offset)
    }

    /// Returns the number of unreadable lines.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

/// Creates an event of the main agent.
pub(crate) fn main_agent_event(
    id: String,
    at: Option<Timestamp>,
    event: super::EventBody,
) -> TranscriptEvent {
    TranscriptEvent {
        id,
        at,
        agent: None,
        author: super::TurnAuthor::Person,
        body: event,
    }
}

/// Calls `on` with each JSON object of a line and its offset. A crash may glue two lines; nearly every line is one object,
/// and is not parsed for it.
fn each_object(at: u64, text: &str, on: &mut dyn FnMut(u64, &str)) {
    let is_object = text.trim_start().starts_with('{');
    if !is_object || !GLUES.iter().any(|glue| text.contains(glue)) {
        return on(at, text);
    }
    let mut objects = Vec::new();
    let mut rest = text;
    while !rest.trim_start_matches(is_gap).is_empty() {
        rest = rest.trim_start_matches(is_gap);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let Some(Ok(object)) = values.next() else {
            break;
        };
        let start = text.len() - rest.len();
        objects.push((start, object.get()));
        rest = rest.get(object.get().len()..).unwrap_or_default();
    }
    // The end of a line that was cut is one object that cannot be read.
    if !rest.is_empty() && !objects.is_empty() {
        objects.push((text.len() - rest.len(), rest));
    }
    if objects.len() < 2 {
        return on(at, text);
    }
    for (start, object) in objects {
        on(at + start as u64, object);
    }
}

/// Returns true for a character between two glued objects.
fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{1e}' | '\u{0}')
}

//! Reader of an agent's output in any format.

use super::format_detection::detect_program;
use super::json_lines::JsonLines;
use crate::AgentProgram;
use crate::StreamFormat;
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::limits::{STREAM_AUTO_BYTES_MAX, STREAM_AUTO_LINES_MAX};
use memchr::memchr;

/// A part of an output.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    /// Plain output, in any chunking.
    Raw(&'a [u8]),
    /// An event of a JSON stream.
    Event(StreamEvent),
}

/// Reads the output of one agent process.
///
/// The result does not depend on how the output is cut into chunks, except for the cuts in plain output. Plain output
/// is passed on immediately, unless a line may be the first of a JSON stream.
#[derive(Debug)]
pub struct StreamReader {
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    Text,
    Undecided(Undecided),
    Json(JsonLines),
}

/// Output whose format is not detected yet.
#[derive(Debug, Default)]
struct Undecided {
    /// Beginning of a line that may be JSON.
    pending: Vec<u8>,
    /// First byte of it that is not blank.
    first: Option<u8>,
    /// True if part of the current line was already emitted as plain output.
    in_plain_line: bool,
    /// Number of lines and bytes emitted as plain output.
    lines: u64,
    bytes: usize,
}

impl StreamReader {
    /// Creates a reader at the beginning of an output.
    pub fn new(format: StreamFormat) -> Self {
        let mode = match format {
            StreamFormat::Text => Mode::Text,
            StreamFormat::Auto => Mode::Undecided(Undecided::default()),
            StreamFormat::Events(program) => json_mode(program, 1),
        };
        Self { mode }
    }

    /// Reads the next bytes and emits their pieces in order.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(StreamPiece<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match &mut self.mode {
                Mode::Text => return sink(StreamPiece::Raw(rest)),
                Mode::Json(lines) => {
                    return lines.push(rest, &mut |event| sink(StreamPiece::Event(event)));
                }
                Mode::Undecided(undecided) => {
                    let (after, next) = undecided.read_line(rest, sink);
                    rest = after;
                    self.switch_mode(next, sink);
                }
            }
        }
    }

    /// Ends the output: emits a last line without a line feed, and pending data.
    pub fn finish(&mut self, sink: &mut dyn FnMut(StreamPiece<'_>)) {
        if let Mode::Undecided(undecided) = &mut self.mode {
            let next = undecided.end_line(sink);
            self.switch_mode(next, sink);
        }
        if let Mode::Json(lines) = &mut self.mode {
            lines.finish(&mut |event| sink(StreamPiece::Event(event)));
        }
    }

    fn switch_mode(&mut self, next: Option<FormatDecision>, sink: &mut dyn FnMut(StreamPiece<'_>)) {
        match next {
            None => {}
            Some(FormatDecision::Text) => self.mode = Mode::Text,
            Some(FormatDecision::Json(program, line, first)) => {
                self.mode = json_mode(program, line);
                self.push(&first, sink);
            }
        }
    }
}

fn json_mode(program: AgentProgram, line: u64) -> Mode {
    match program.row().stream {
        Some(stream) => Mode::Json(JsonLines::new((stream.start)(), line)),
        None => Mode::Text,
    }
}

/// Result of format detection.
enum FormatDecision {
    Text,
    /// The program that writes events, the number of the first line, and that line.
    Json(AgentProgram, u64, Vec<u8>),
}

impl Undecided {
    /// Consumes bytes up to the end of the line at most, and returns the rest.
    fn read_line<'a>(
        &mut self,
        bytes: &'a [u8],
        sink: &mut dyn FnMut(StreamPiece<'_>),
    ) -> (&'a [u8], Option<FormatDecision>) {
        let feed = memchr(b'\n', bytes);
        let (line, rest) = bytes.split_at(feed.map_or(bytes.len(), |feed| feed + 1));
        if self.in_plain_line {
            self.emit_plain(line, sink);
        } else {
            if self.first.is_none() {
                self.first = line.iter().copied().find(|byte| !is_blank(*byte));
            }
            self.pending.extend_from_slice(line);
            let is_long = self.pending.len() > STREAM_AUTO_BYTES_MAX;
            match self.first {
                // Longer than the buffer allows, so its format cannot be detected.
                Some(b'{') if is_long => {
                    self.emit_pending(sink);
                    return (rest, Some(FormatDecision::Text));
                }
                Some(b'{') | None if feed.is_none() && !is_long => {}
                Some(b'{') => return (rest, self.end_line(sink)),
                Some(_) | None => {
                    self.emit_pending(sink);
                    self.in_plain_line = true;
                }
            }
        }
        if feed.is_none() {
            return (rest, None);
        }
        (rest, self.end_plain_line())
    }

    /// Decides on the pending line, which is complete.
    fn end_line(&mut self, sink: &mut dyn FnMut(StreamPiece<'_>)) -> Option<FormatDecision> {
        let line = String::from_utf8_lossy(&self.pending);
        let line =
            line.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
        if let Some(program) = detect_program(&crate::json_fields::without_controls(line)) {
            let first = std::mem::take(&mut self.pending);
            return Some(FormatDecision::Json(program, self.lines + 1, first));
        }
        self.emit_pending(sink);
        self.end_plain_line()
    }

    fn end_plain_line(&mut self) -> Option<FormatDecision> {
        self.in_plain_line = false;
        self.first = None;
        self.lines += 1;
        let over = self.lines >= STREAM_AUTO_LINES_MAX || self.bytes >= STREAM_AUTO_BYTES_MAX;
        over.then_some(FormatDecision::Text)
    }

    fn emit_pending(&mut self, sink: &mut dyn FnMut(StreamPiece<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        self.emit_plain(&pending, sink);
    }

    fn emit_plain(&mut self, bytes: &[u8], sink: &mut dyn FnMut(StreamPiece<'_>)) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if !bytes.is_empty() {
            sink(StreamPiece::Raw(bytes));
        }
    }
}

/// Returns true if a byte may precede the first one of a JSON line; the byte order mark is three of them.
fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f || [0xef, 0xbb, 0xbf].contains(&byte)
}

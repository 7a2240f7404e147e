//! The reader of an agent's output, whatever its format.

use super::claude::Claude;
use super::codex::Codex;
use super::detect::detect;
use super::dialect::Dialect;
use super::gemini::Gemini;
use super::lines::JsonLines;
use heirloom_model::limits::{STREAM_AUTO_BYTES_MAX, STREAM_AUTO_LINES_MAX};
use heirloom_model::stream::{StreamEvent, StreamFormat};
use memchr::memchr;

/// A part of an output.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Plain output: these bytes come next, in any chunking.
    Raw(&'a [u8]),
    /// What a line of a JSON stream says.
    Event(StreamEvent),
}

/// Reads the output of one agent process.
///
/// What it gives does not depend on how the output is cut into chunks, except for where plain output
/// is cut. Plain output is never held back, unless a line looks like the first of a JSON stream.
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

/// Output whose format is not known yet.
#[derive(Debug, Default)]
struct Undecided {
    /// The beginning of a line that may be JSON.
    held: Vec<u8>,
    /// The first byte in it that is not blank.
    first: Option<u8>,
    /// Whether the current line is plain output of which a part is already passed on.
    in_plain_line: bool,
    /// Lines and bytes that were plain output.
    lines: u64,
    bytes: usize,
}

impl StreamReader {
    /// A reader at the beginning of an output.
    pub fn new(format: StreamFormat) -> Self {
        let mode = match format {
            StreamFormat::Text => Mode::Text,
            StreamFormat::Auto => Mode::Undecided(Undecided::default()),
            StreamFormat::ClaudeStream | StreamFormat::CodexJson | StreamFormat::GeminiStream => {
                json_mode(format, 1)
            }
        };
        Self { mode }
    }

    /// Reads the next bytes and gives what they say, in order.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match &mut self.mode {
                Mode::Text => return sink(Piece::Raw(rest)),
                Mode::Json(lines) => {
                    return lines.push(rest, &mut |event| sink(Piece::Event(event)));
                }
                Mode::Undecided(undecided) => {
                    let (after, next) = undecided.take_line(rest, sink);
                    rest = after;
                    self.enter(next, sink);
                }
            }
        }
    }

    /// Ends the output: gives what a last line without a line feed says, and what was still open.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        if let Mode::Undecided(undecided) = &mut self.mode {
            let next = undecided.end_line(sink);
            self.enter(next, sink);
        }
        if let Mode::Json(lines) = &mut self.mode {
            lines.finish(&mut |event| sink(Piece::Event(event)));
        }
    }

    fn enter(&mut self, next: Option<Next>, sink: &mut dyn FnMut(Piece<'_>)) {
        match next {
            None => {}
            Some(Next::Text) => self.mode = Mode::Text,
            Some(Next::Json(format, line, first)) => {
                self.mode = json_mode(format, line);
                self.push(&first, sink);
            }
        }
    }
}

fn json_mode(format: StreamFormat, line: u64) -> Mode {
    let dialect: Box<dyn Dialect> = match format {
        StreamFormat::ClaudeStream => Box::<Claude>::default(),
        StreamFormat::CodexJson => Box::<Codex>::default(),
        StreamFormat::GeminiStream => Box::<Gemini>::default(),
        StreamFormat::Text | StreamFormat::Auto => return Mode::Text,
    };
    Mode::Json(JsonLines::new(dialect, line))
}

/// What an undecided output turned out to be.
enum Next {
    Text,
    /// A format, the number of its first line, and that line.
    Json(StreamFormat, u64, Vec<u8>),
}

impl Undecided {
    /// Takes bytes up to the end of the line at most, and gives the rest.
    fn take_line<'a>(
        &mut self,
        bytes: &'a [u8],
        sink: &mut dyn FnMut(Piece<'_>),
    ) -> (&'a [u8], Option<Next>) {
        let feed = memchr(b'\n', bytes);
        let (line, rest) = bytes.split_at(feed.map_or(bytes.len(), |feed| feed + 1));
        if self.in_plain_line {
            self.pass(line, sink);
        } else {
            if self.first.is_none() {
                self.first = line.iter().copied().find(|byte| !is_blank(*byte));
            }
            self.held.extend_from_slice(line);
            let is_long = self.held.len() > STREAM_AUTO_BYTES_MAX;
            match self.first {
                // Too long to be told from data in bounded memory.
                Some(b'{') if is_long => {
                    self.pass_held(sink);
                    return (rest, Some(Next::Text));
                }
                Some(b'{') | None if feed.is_none() && !is_long => {}
                Some(b'{') => return (rest, self.end_line(sink)),
                Some(_) | None => {
                    self.pass_held(sink);
                    self.in_plain_line = true;
                }
            }
        }
        if feed.is_none() {
            return (rest, None);
        }
        (rest, self.end_plain_line())
    }

    /// Decides on the line that is held, which is complete.
    fn end_line(&mut self, sink: &mut dyn FnMut(Piece<'_>)) -> Option<Next> {
        let line = String::from_utf8_lossy(&self.held);
        let line =
            line.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
        if let Some(format) = detect(&super::json::without_controls(line)) {
            let first = std::mem::take(&mut self.held);
            return Some(Next::Json(format, self.lines + 1, first));
        }
        self.pass_held(sink);
        self.end_plain_line()
    }

    fn end_plain_line(&mut self) -> Option<Next> {
        self.in_plain_line = false;
        self.first = None;
        self.lines += 1;
        let over = self.lines >= STREAM_AUTO_LINES_MAX || self.bytes >= STREAM_AUTO_BYTES_MAX;
        over.then_some(Next::Text)
    }

    fn pass_held(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.pass(&held, sink);
    }

    fn pass(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Piece<'_>)) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if !bytes.is_empty() {
            sink(Piece::Raw(bytes));
        }
    }
}

/// Whether a byte may stand before the first one of a JSON line; the byte order mark is three of them.
fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f || [0xef, 0xbb, 0xbf].contains(&byte)
}

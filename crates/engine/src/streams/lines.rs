//! The lines of a JSON stream, cut anywhere, in bounded memory.

use super::dialect::{Dialect, Out};
use super::json::without_controls;
use heirloom_model::limits::{DIAGNOSTICS_MAX, STREAM_LINE_BYTES_MAX};
use heirloom_model::stream::StreamEvent;
use heirloom_model::text;
use memchr::memchr;

/// A buffer that grew for one huge line is given back when it is larger than this.
const BUFFER_KEPT_BYTES_MAX: usize = 1 << 20;

/// A JSON stream of one program.
#[derive(Debug)]
pub(super) struct JsonLines {
    dialect: Box<dyn Dialect>,
    /// The beginning of a line whose end has not come yet.
    tail: Vec<u8>,
    /// Whether that line is too long to be kept.
    tail_is_cut: bool,
    /// The number of the line that is being read.
    line: u64,
    unreadable: usize,
    unreadable_untold: u64,
}

impl JsonLines {
    /// A stream whose next line has this number.
    pub(super) fn new(dialect: Box<dyn Dialect>, line: u64) -> Self {
        Self {
            dialect,
            tail: Vec::new(),
            tail_is_cut: false,
            line,
            unreadable: 0,
            unreadable_untold: 0,
        }
    }

    /// Reads the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], out: Out<'_>) {
        let mut rest = bytes;
        while let Some(feed) = memchr(b'\n', rest) {
            let line = &rest[..feed];
            if self.tail.is_empty() && !self.tail_is_cut && line.len() <= STREAM_LINE_BYTES_MAX {
                self.read(line, out);
                self.line += 1;
            } else {
                self.keep(line);
                self.end_tail(out);
            }
            rest = &rest[feed + 1..];
        }
        self.keep(rest);
    }

    /// Ends the stream: its last line may lack a line feed.
    pub(super) fn finish(&mut self, out: Out<'_>) {
        if self.tail_is_cut || !self.tail.is_empty() {
            self.end_tail(out);
        }
        self.dialect.finish(out);
        let count = std::mem::take(&mut self.unreadable_untold);
        if count > 0 {
            let message = format!("{count} more lines could not be read");
            let line = self.line.saturating_sub(1);
            out(StreamEvent::Unreadable { line, message });
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.tail_is_cut || self.tail.len() + bytes.len() > STREAM_LINE_BYTES_MAX {
            self.tail_is_cut = true;
            self.tail = Vec::new();
            return;
        }
        self.tail.extend_from_slice(bytes);
    }

    fn end_tail(&mut self, out: Out<'_>) {
        let mut tail = std::mem::take(&mut self.tail);
        if std::mem::take(&mut self.tail_is_cut) {
            let message = format!("the line is longer than {STREAM_LINE_BYTES_MAX} bytes");
            self.complain(message, out);
        } else {
            self.read(&tail, out);
        }
        self.line += 1;
        if tail.capacity() <= BUFFER_KEPT_BYTES_MAX {
            tail.clear();
            self.tail = tail;
        }
    }

    fn read(&mut self, line: &[u8], out: Out<'_>) {
        let line = String::from_utf8_lossy(line);
        let line =
            line.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
        if line.is_empty() {
            return;
        }
        if !line.starts_with('{') {
            let shown = shown(line);
            return self.complain(format!("no JSON object: {shown}"), out);
        }
        let read = self.dialect.line(line, self.line, out);
        let read = read.or_else(|error| match without_controls(line) {
            std::borrow::Cow::Borrowed(_) => Err(error),
            std::borrow::Cow::Owned(mended) => self.dialect.line(&mended, self.line, out),
        });
        match read {
            Ok(()) => {}
            Err(error) if error.is_eof() => {
                self.complain(
                    format!("a JSON object without an end: {}", shown(line)),
                    out,
                );
            }
            Err(error) => {
                let column = error.column();
                self.complain(
                    format!("broken JSON at byte {column}: {}", shown(line)),
                    out,
                );
            }
        }
    }

    fn complain(&mut self, message: String, out: Out<'_>) {
        if self.unreadable == DIAGNOSTICS_MAX {
            self.unreadable_untold += 1;
            return;
        }
        self.unreadable += 1;
        let line = self.line;
        out(StreamEvent::Unreadable { line, message });
    }
}

/// The beginning of a line, for a message about it.
fn shown(line: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 80;
    text::excerpt(text::clip(line, SHOWN_CHARS_MAX * 4), SHOWN_CHARS_MAX)
}

//! Splits a JSON stream into lines in bounded memory.

use super::dialect::{Dialect, EventSink, line_excerpt};
use crate::json_fields::without_controls;
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::limits::{DIAGNOSTICS_MAX, STREAM_LINE_BYTES_MAX};
use heirloom_model::text::counted;
use memchr::memchr;

/// A buffer larger than this, grown for one long line, is freed.
const BUFFER_REUSE_BYTES_MAX: usize = 1 << 20;

/// The line splitter and parser of one program's JSON stream.
#[derive(Debug)]
pub(super) struct JsonLines {
    dialect: Box<dyn Dialect>,
    /// Beginning of an unfinished line.
    tail: Vec<u8>,
    /// True if that line is too long to be buffered.
    tail_is_cut: bool,
    /// Number of the current line.
    line: u64,
    unreadable: usize,
    unreadable_omitted: u64,
}

impl JsonLines {
    /// Creates a stream whose next line has this number.
    pub(super) fn new(dialect: Box<dyn Dialect>, line: u64) -> Self {
        Self {
            dialect,
            tail: Vec::new(),
            tail_is_cut: false,
            line,
            unreadable: 0,
            unreadable_omitted: 0,
        }
    }

    /// Parses the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], out: EventSink<'_>) {
        let mut rest = bytes;
        while let Some(feed) = memchr(b'\n', rest) {
            let line = &rest[..feed];
            if self.tail.is_empty() && !self.tail_is_cut && line.len() <= STREAM_LINE_BYTES_MAX {
                self.parse_line(line, out);
                self.line += 1;
            } else {
                self.append_tail(line);
                self.end_tail(out);
            }
            rest = &rest[feed + 1..];
        }
        self.append_tail(rest);
    }

    /// Ends the stream; the last line may lack a line feed.
    pub(super) fn finish(&mut self, out: EventSink<'_>) {
        if self.tail_is_cut || !self.tail.is_empty() {
            self.end_tail(out);
        }
        self.dialect.finish(out);
        let count = std::mem::take(&mut self.unreadable_omitted);
        if count > 0 {
            let message = format!(
                "{} not be read",
                counted(count, "more line could", "more lines could")
            );
            let line = self.line.saturating_sub(1);
            out(StreamEvent::Unreadable { line, message });
        }
    }

    fn append_tail(&mut self, bytes: &[u8]) {
        if self.tail_is_cut || self.tail.len() + bytes.len() > STREAM_LINE_BYTES_MAX {
            self.tail_is_cut = true;
            self.tail = Vec::new();
            return;
        }
        self.tail.extend_from_slice(bytes);
    }

    fn end_tail(&mut self, out: EventSink<'_>) {
        let mut tail = std::mem::take(&mut self.tail);
        if std::mem::take(&mut self.tail_is_cut) {
            let message = format!("the line is longer than {STREAM_LINE_BYTES_MAX} bytes");
            self.report_unreadable(message, out);
        } else {
            self.parse_line(&tail, out);
        }
        self.line += 1;
        if tail.capacity() <= BUFFER_REUSE_BYTES_MAX {
            tail.clear();
            self.tail = tail;
        }
    }

    fn parse_line(&mut self, line: &[u8], out: EventSink<'_>) {
        let line = String::from_utf8_lossy(line);
        let line =
            line.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
        if line.is_empty() {
            return;
        }
        if !line.starts_with('{') {
            let line_excerpt = line_excerpt(line);
            return self.report_unreadable(format!("no JSON object: {line_excerpt}"), out);
        }
        let read = self.dialect.parse_line(line, self.line, out);
        let read = read.or_else(|error| match without_controls(line) {
            std::borrow::Cow::Borrowed(_) => Err(error),
            std::borrow::Cow::Owned(mended) => self.dialect.parse_line(&mended, self.line, out),
        });
        match read {
            Ok(()) => {}
            Err(error) if error.is_eof() => {
                self.report_unreadable(
                    format!("a JSON object without an end: {}", line_excerpt(line)),
                    out,
                );
            }
            Err(error) => {
                let column = error.column();
                self.report_unreadable(
                    format!("broken JSON at byte {column}: {}", line_excerpt(line)),
                    out,
                );
            }
        }
    }

    fn report_unreadable(&mut self, message: String, out: EventSink<'_>) {
        if self.unreadable == DIAGNOSTICS_MAX {
            self.unreadable_omitted += 1;
            return;
        }
        self.unreadable += 1;
        let line = self.line;
        out(StreamEvent::Unreadable { line, message });
    }
}

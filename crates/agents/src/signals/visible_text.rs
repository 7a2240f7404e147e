//! Visible text of a raw line: without terminal escape sequences and without overwritten text.

use heirloom_model::limits::PLAIN_LINE_BYTES_MAX;
use heirloom_model::text::strip_ansi;
use std::borrow::Cow;

/// Returns true for characters that are invisible at the edges of a line.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

/// Returns the visible text of a line of at most [`PLAIN_LINE_BYTES_MAX`] bytes.
///
/// A carriage return overwrites the text before it, as progress displays do, unless nothing visible follows.
pub(super) fn visible_text(line: &[u8]) -> Cow<'_, str> {
    for part in line.rsplit(|byte| *byte == b'\r') {
        let text = decode_without_ansi(part);
        if !text.chars().all(is_blank) {
            return text;
        }
    }
    Cow::Borrowed("")
}

/// Decodes bytes and removes terminal escape sequences.
pub(super) fn decode_without_ansi(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\u{1b}') {
        return Cow::Owned(strip_ansi(&text));
    }
    text
}

/// Bounded buffer of a line longer than [`PLAIN_LINE_BYTES_MAX`].
///
/// Keeps the beginning of the text after the last carriage return, so that a signal is found at the end of a long
/// progress display, and an over-long signal line is distinguished from plain data.
#[derive(Debug, Default)]
pub(super) struct LongLine {
    part: Vec<u8>,
    part_is_cut: bool,
    ended_by_return: bool,
}

impl LongLine {
    /// Appends more bytes of the line, without its line feed.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.ended_by_return && *first != b'\r' {
                *self = Self {
                    part: std::mem::take(&mut self.part),
                    ..Self::default()
                };
                self.part.clear();
            }
            let Some(end) = memchr::memchr(b'\r', rest) else {
                self.append(rest);
                return;
            };
            self.append(&rest[..end]);
            self.ended_by_return = true;
            rest = &rest[end + 1..];
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = PLAIN_LINE_BYTES_MAX - self.part.len();
        self.part_is_cut |= bytes.len() > room;
        self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns the size of the buffer.
    pub(super) fn buffered_bytes(&self) -> usize {
        self.part.capacity()
    }

    /// Returns the visible text, and true if only its beginning was kept.
    pub(super) fn visible_text(&self) -> (Cow<'_, str>, bool) {
        (decode_without_ansi(&self.part), self.part_is_cut)
    }
}

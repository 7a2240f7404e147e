//! What of a raw line a reader would see: no terminal codes, nothing that was overwritten.

use heirloom_model::limits::PLAIN_LINE_BYTES_MAX;
use heirloom_model::text::strip_ansi;
use std::borrow::Cow;

/// Characters that stand for nothing at the edges of a line.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

/// The visible text of a line of at most [`PLAIN_LINE_BYTES_MAX`] bytes.
///
/// A carriage return inside it overwrites what stands before, as progress displays do, unless
/// nothing visible follows.
pub(super) fn shown(line: &[u8]) -> Cow<'_, str> {
    for part in line.rsplit(|byte| *byte == b'\r') {
        let text = plain(part);
        if !text.chars().all(is_blank) {
            return text;
        }
    }
    Cow::Borrowed("")
}

/// The bytes as text without terminal codes.
pub(super) fn plain(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\u{1b}') {
        return Cow::Owned(strip_ansi(&text));
    }
    text
}

/// A line that is longer than [`PLAIN_LINE_BYTES_MAX`], in bounded memory.
///
/// It keeps the beginning of what stands after the last carriage return, so that a signal is found
/// at the end of a long progress display, and an over-long signal line is told from plain data.
#[derive(Debug, Default)]
pub(super) struct LongLine {
    part: Vec<u8>,
    part_is_cut: bool,
    ended_by_return: bool,
}

impl LongLine {
    /// Takes more bytes of the line, without its line feed.
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
                self.keep(rest);
                return;
            };
            self.keep(&rest[..end]);
            self.ended_by_return = true;
            rest = &rest[end + 1..];
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = PLAIN_LINE_BYTES_MAX - self.part.len();
        self.part_is_cut |= bytes.len() > room;
        self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The memory that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.part.capacity()
    }

    /// The visible text, and whether only its beginning was kept.
    pub(super) fn shown(&self) -> (Cow<'_, str>, bool) {
        (plain(&self.part), self.part_is_cut)
    }
}

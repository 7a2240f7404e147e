//! Line reader with byte offsets and bounded memory.

use heirloom_model::limits::TRANSCRIPT_LINE_BYTES_MAX;
use memchr::memchr;
use std::io::{self, BufRead};

/// A line of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptLine<'l> {
    /// Byte offset of the line in the file.
    pub at: u64,
    /// The bytes without the line feed; `None` if the line exceeds the maximum length.
    pub bytes: Option<&'l [u8]>,
    /// True if the line feed is present; the last line may be incomplete.
    pub is_whole: bool,
}

/// Iterator over lines; a line over [`TRANSCRIPT_LINE_BYTES_MAX`] is skipped without being buffered.
#[derive(Debug)]
pub struct TranscriptLines<R> {
    from: R,
    at: u64,
    line: Vec<u8>,
}

/// A buffer larger than this, grown for one long line, is freed.
const BUFFER_REUSE_BYTES_MAX: usize = 4 << 20;

impl<R: BufRead> TranscriptLines<R> {
    /// Creates a reader of the lines of `from`, whose first byte has the offset `at`.
    pub fn new(from: R, at: u64) -> Self {
        let line = Vec::new();
        Self { from, at, line }
    }

    /// Returns the offset after the last line read.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        if self.line.capacity() > BUFFER_REUSE_BYTES_MAX {
            self.line = Vec::new();
        }
        self.line.clear();
        let (at, mut is_cut, mut is_whole) = (self.at, false, false);
        while !is_whole {
            let chunk = match self.from.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            let feed = memchr(b'\n', chunk);
            let part = &chunk[..feed.unwrap_or(chunk.len())];
            is_cut = is_cut || self.line.len() + part.len() > TRANSCRIPT_LINE_BYTES_MAX;
            if !is_cut {
                self.line.extend_from_slice(part);
            }
            is_whole = feed.is_some();
            let consumed = part.len() + usize::from(is_whole);
            self.from.consume(consumed);
            self.at += consumed as u64;
        }
        if self.at == at {
            return Ok(None);
        }
        let bytes = (!is_cut).then_some(self.line.as_slice());
        Ok(Some(TranscriptLine {
            at,
            bytes,
            is_whole,
        }))
    }
}

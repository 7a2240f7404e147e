//! The lines of a file and where each begins, in bounded memory.

use heirloom_model::limits::TRANSCRIPT_LINE_BYTES_MAX;
use memchr::memchr;
use std::io::{self, BufRead};

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'l> {
    /// Where it begins, bytes from the beginning of the file.
    pub at: u64,
    /// Its bytes without the line feed; `None` if it is longer than lines may be.
    pub bytes: Option<&'l [u8]>,
    /// Whether its line feed has come: the last line may be half written.
    pub is_whole: bool,
}

/// Reads lines; a line over [`TRANSCRIPT_LINE_BYTES_MAX`] is passed over without being held.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    at: u64,
    line: Vec<u8>,
}

/// A buffer that grew for one huge line is given back when it is larger than this.
const KEPT_BYTES: usize = 4 << 20;

impl<R: BufRead> Lines<R> {
    /// The lines of `from`, whose first byte is the one at `at`.
    pub fn new(from: R, at: u64) -> Self {
        let line = Vec::new();
        Self { from, at, line }
    }

    /// The place behind what was read.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.line.capacity() > KEPT_BYTES {
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
            let taken = part.len() + usize::from(is_whole);
            self.from.consume(taken);
            self.at += taken as u64;
        }
        if self.at == at {
            return Ok(None);
        }
        let bytes = (!is_cut).then_some(self.line.as_slice());
        Ok(Some(Line {
            at,
            bytes,
            is_whole,
        }))
    }
}

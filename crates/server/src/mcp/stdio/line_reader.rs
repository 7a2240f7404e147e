//! Reader of lines with a maximum length.

use heirloom_model::limits::MCP_MESSAGE_BYTES_MAX;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes of a line that is too long in which the id of its request is searched.
const START_BYTES: usize = 64 << 10;
/// A buffer larger than this, grown for one long line, is freed.
const BUFFER_REUSE_BYTES_MAX: usize = 1 << 20;

/// A line without its line break.
#[derive(Debug)]
pub(super) enum MessageLine {
    /// All of it.
    Whole(Vec<u8>),
    /// The start of a line with more than [`MCP_MESSAGE_BYTES_MAX`] bytes.
    TooLong(Vec<u8>),
}

/// Reader of lines. A read that is cancelled loses nothing.
pub(super) struct LineReader<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from: BufReader::new(from),
            line: Vec::new(),
            is_too_long: false,
        }
    }

    /// Returns the next line; `None` at the end, and if the input cannot be read.
    pub(super) async fn next_line(&mut self) -> Option<MessageLine> {
        loop {
            // Reading from a closed pipe is the end, as the client is gone.
            let chunk = self.from.fill_buf().await.unwrap_or_default();
            if chunk.is_empty() {
                return (!self.line.is_empty()).then(|| self.take());
            }
            let feed = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..feed.unwrap_or(chunk.len())).unwrap_or_default();
            // The line break counts.
            if self.line.len() + part.len() >= MCP_MESSAGE_BYTES_MAX {
                self.is_too_long = true;
                let room = START_BYTES.saturating_sub(self.line.len());
                self.line.extend(part.iter().take(room));
                self.line.truncate(START_BYTES);
            } else if !self.is_too_long {
                self.line.extend_from_slice(part);
            }
            let count = part.len() + usize::from(feed.is_some());
            self.from.consume(count);
            if feed.is_some() {
                return Some(self.take());
            }
        }
    }

    fn take(&mut self) -> MessageLine {
        let mut line = std::mem::take(&mut self.line);
        if line.capacity() > BUFFER_REUSE_BYTES_MAX {
            line.shrink_to_fit();
        }
        match std::mem::take(&mut self.is_too_long) {
            true => MessageLine::TooLong(line),
            false => MessageLine::Whole(line),
        }
    }
}

//! The parser of an agent's output, chunk by chunk.

use super::fence::Fence;
use super::reading::Reading;
use super::rules::SignalRules;
use super::scan::{What, read_long, scan};
use super::shown::LongLine;
use heirloom_model::limits::{DIAGNOSTICS_MAX, PLAIN_LINE_BYTES_MAX, SIGNALS_MAX};
use heirloom_model::signal::{Diagnostic, Found, Signal};
use memchr::{memchr, memchr_iter, memrchr};

/// Finds the signals of one agent process, in plain output or in messages of a JSON stream.
///
/// What it finds does not depend on how the output is cut into chunks. It holds at most one line of
/// [`PLAIN_LINE_BYTES_MAX`] bytes.
#[derive(Debug)]
pub struct SignalParser {
    rules: SignalRules,
    /// The beginning of a line whose end has not come yet.
    tail: Vec<u8>,
    /// The same for a line that has become longer than `tail` may be.
    long: Option<LongLine>,
    /// The number of the next line.
    line: u64,
    fence: Option<Fence>,
    /// The line on which the open fence began.
    fence_line: u64,
    tally: Tally,
}

impl SignalParser {
    /// A parser at the beginning of an output.
    pub fn new(rules: &SignalRules) -> Self {
        Self {
            rules: rules.clone(),
            tail: Vec::new(),
            long: None,
            line: 1,
            fence: None,
            fence_line: 0,
            tally: Tally::default(),
        }
    }

    /// Reads the next bytes of plain output and tells what was found, in order.
    ///
    /// A line is told as soon as its line feed has come; the last one by [`finish`](Self::finish).
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Found)) {
        let mut rest = bytes;
        if self.has_tail() {
            let Some(feed) = memchr(b'\n', rest) else {
                return self.keep(rest);
            };
            self.keep(&rest[..feed]);
            self.end_tail(sink);
            rest = &rest[feed + 1..];
        }
        let whole = memrchr(b'\n', rest).map_or(0, |feed| feed + 1);
        self.read_lines(&rest[..whole], sink);
        self.keep(&rest[whole..]);
    }

    /// Reads one whole message of a JSON stream; each signal gets the stream's line number.
    ///
    /// Fences are those of the message alone, and plain output is not disturbed by it.
    pub fn message(&mut self, text: &str, line: u64, sink: &mut dyn FnMut(Found)) {
        let mut fence = None;
        let tally = &mut self.tally;
        scan(&self.rules, &mut fence, text.as_bytes(), &mut |hit| {
            if let What::Read(reading) = hit.what {
                tally.tell(reading, line, sink);
            }
        });
        tally.tell_unclosed(fence.as_ref(), line, sink);
    }

    /// Ends the output: reads a last line without a line feed and tells what was counted, not told.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Found)) {
        if self.has_tail() {
            self.end_tail(sink);
        }
        let fence = self.fence.take();
        self.tally
            .tell_unclosed(fence.as_ref(), self.fence_line, sink);
        std::mem::take(&mut self.tally).tell_rest(sink);
    }

    /// The memory that the unfinished line takes, for tests and meters.
    pub fn held_bytes(&self) -> usize {
        self.tail.capacity() + self.long.as_ref().map_or(0, LongLine::held_bytes)
    }

    fn has_tail(&self) -> bool {
        self.long.is_some() || !self.tail.is_empty()
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.long.is_none() && self.tail.len() + bytes.len() <= PLAIN_LINE_BYTES_MAX {
            self.tail.extend_from_slice(bytes);
            return;
        }
        let tail = std::mem::take(&mut self.tail);
        let long = self.long.get_or_insert_default();
        long.feed(&tail);
        long.feed(bytes);
    }

    fn end_tail(&mut self, sink: &mut dyn FnMut(Found)) {
        let Some(long) = self.long.take() else {
            let mut tail = std::mem::take(&mut self.tail);
            tail.push(b'\n');
            self.read_lines(&tail, sink);
            tail.clear();
            self.tail = tail;
            return;
        };
        if let Some((what, _)) = read_long(&self.rules, &mut self.fence, &long) {
            match what {
                What::Read(reading) => self.tally.tell(reading, self.line, sink),
                What::OpensFence => self.fence_line = self.line,
            }
        }
        self.line += 1;
    }

    fn read_lines(&mut self, lines: &[u8], sink: &mut dyn FnMut(Found)) {
        let (mut line, mut counted) = (self.line, 0);
        let (fence_line, tally) = (&mut self.fence_line, &mut self.tally);
        scan(&self.rules, &mut self.fence, lines, &mut |hit| {
            line += feeds(&lines[counted..hit.at.start]);
            counted = hit.at.start;
            match hit.what {
                What::Read(reading) => tally.tell(reading, line, sink),
                What::OpensFence => *fence_line = line,
            }
        });
        self.line = line + feeds(&lines[counted..]);
    }
}

fn feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Tells what was found up to the caps, and counts the rest.
#[derive(Debug, Default)]
struct Tally {
    signals: usize,
    diagnostics: usize,
    signals_untold: u64,
    diagnostics_untold: u64,
    untold_line: u64,
}

impl Tally {
    fn tell(&mut self, reading: Reading, line: u64, sink: &mut dyn FnMut(Found)) {
        let (told, told_max, untold) = match reading {
            Reading::Signal(..) => (&mut self.signals, SIGNALS_MAX, &mut self.signals_untold),
            Reading::Bad(_) => (
                &mut self.diagnostics,
                DIAGNOSTICS_MAX,
                &mut self.diagnostics_untold,
            ),
        };
        if *told == told_max {
            if self.untold_line == 0 {
                self.untold_line = line;
            }
            *untold += 1;
            return;
        }
        *told += 1;
        sink(match reading {
            Reading::Signal(verb, text) => Found::Signal(Signal { verb, text, line }),
            Reading::Bad(message) => Found::Diagnostic(Diagnostic { line, message }),
        });
    }

    fn tell_unclosed(&mut self, fence: Option<&Fence>, line: u64, sink: &mut dyn FnMut(Found)) {
        if let Some(fence) = fence.filter(|fence| fence.hidden > 0) {
            let message = format!(
                "the fence that begins here has a language and no end: {} signals in it were not counted",
                fence.hidden
            );
            self.tell(Reading::Bad(message), line, sink);
        }
    }

    fn tell_rest(self, sink: &mut dyn FnMut(Found)) {
        let line = self.untold_line;
        let mut say = |message| sink(Found::Diagnostic(Diagnostic { line, message }));
        if self.signals_untold > 0 {
            let count = self.signals_untold;
            say(format!(
                "{count} more signals after the first {SIGNALS_MAX} were not counted"
            ));
        }
        if self.diagnostics_untold > 0 {
            let count = self.diagnostics_untold;
            say(format!("{count} more lines could not be read as signals"));
        }
    }
}

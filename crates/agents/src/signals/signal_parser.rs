//! Incremental parser of an agent's output.

use super::code_fence::CodeFence;
use super::enclosing_blocks::EnclosingBlocks;
use super::line_parser::ParsedLine;
use super::scan::{LineEvent, classify_long_line, scan};
use super::signal_prefixes::SignalRules;
use super::visible_text::LongLine;
use heirloom_model::limits::{DIAGNOSTICS_MAX, PLAIN_LINE_BYTES_MAX, SIGNALS_MAX};
use heirloom_model::signal::{Diagnostic, ParserEvent, Signal};
use heirloom_model::text::counted;
use memchr::{memchr, memchr_iter, memrchr};

/// Finds the signals of one agent process, in plain output or in messages of a JSON stream.
///
/// The result does not depend on how the output is cut into chunks. Buffers at most one line of
/// [`PLAIN_LINE_BYTES_MAX`] bytes.
#[derive(Debug)]
pub struct SignalParser {
    rules: SignalRules,
    /// Beginning of an unfinished line.
    tail: Vec<u8>,
    /// Buffer of an unfinished line that exceeds the capacity of `tail`.
    long: Option<LongLine>,
    /// Number of the next line.
    line: u64,
    fences: EnclosingBlocks,
    /// Line on which the open code fence begins.
    fence_line: u64,
    /// Line of the newest signal inside an envelope.
    ignored_signal_line: u64,
    reporter: CappedReporter,
}

impl SignalParser {
    /// Creates a parser at the beginning of an output.
    pub fn new(rules: &SignalRules) -> Self {
        Self {
            rules: rules.clone(),
            tail: Vec::new(),
            long: None,
            line: 1,
            fences: EnclosingBlocks::default(),
            fence_line: 0,
            ignored_signal_line: 0,
            reporter: CappedReporter::default(),
        }
    }

    /// Parses the next bytes of plain output and reports events in order.
    ///
    /// A line is reported when its line feed arrives; the last one by [`finish`](Self::finish).
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(ParserEvent)) {
        let mut rest = bytes;
        if self.has_tail() {
            let Some(feed) = memchr(b'\n', rest) else {
                return self.append_tail(rest);
            };
            self.append_tail(&rest[..feed]);
            self.end_tail(sink);
            rest = &rest[feed + 1..];
        }
        let whole = memrchr(b'\n', rest).map_or(0, |feed| feed + 1);
        self.read_lines(&rest[..whole], sink);
        self.append_tail(&rest[whole..]);
    }

    /// Parses one whole message of a JSON stream; each signal gets the stream's line number.
    ///
    /// Fences are local to the message and do not affect plain output.
    pub fn parse_message(&mut self, text: &str, line: u64, sink: &mut dyn FnMut(ParserEvent)) {
        let mut fences = EnclosingBlocks::default();
        let reporter = &mut self.reporter;
        scan(&self.rules, &mut fences, text.as_bytes(), &mut |hit| {
            if let LineEvent::Parsed(reading) = hit.event {
                reporter.report(reading, line, sink);
            }
        });
        reporter.report_unclosed_fence(fences.code.as_ref(), line, sink);
        reporter.report_unclosed_envelope(&fences, line, sink);
    }

    /// Ends the output: parses a last line without a line feed, and reports the counts of omitted events.
    pub fn finish(&mut self, sink: &mut dyn FnMut(ParserEvent)) {
        if self.has_tail() {
            self.end_tail(sink);
        }
        let fences = std::mem::take(&mut self.fences);
        self.reporter
            .report_unclosed_fence(fences.code.as_ref(), self.fence_line, sink);
        self.reporter
            .report_unclosed_envelope(&fences, self.ignored_signal_line, sink);
        std::mem::take(&mut self.reporter).report_omitted(sink);
    }

    /// Returns the size of the buffer for the unfinished line, for tests and metrics.
    pub fn buffered_bytes(&self) -> usize {
        self.tail.capacity() + self.long.as_ref().map_or(0, LongLine::buffered_bytes)
    }

    fn has_tail(&self) -> bool {
        self.long.is_some() || !self.tail.is_empty()
    }

    fn append_tail(&mut self, bytes: &[u8]) {
        if self.long.is_none() && self.tail.len() + bytes.len() <= PLAIN_LINE_BYTES_MAX {
            self.tail.extend_from_slice(bytes);
            return;
        }
        let tail = std::mem::take(&mut self.tail);
        let long = self.long.get_or_insert_default();
        long.feed(&tail);
        long.feed(bytes);
    }

    fn end_tail(&mut self, sink: &mut dyn FnMut(ParserEvent)) {
        let Some(long) = self.long.take() else {
            let mut tail = std::mem::take(&mut self.tail);
            tail.push(b'\n');
            self.read_lines(&tail, sink);
            tail.clear();
            self.tail = tail;
            return;
        };
        if let Some((event, _)) = classify_long_line(&self.rules, &mut self.fences, &long) {
            match event {
                LineEvent::Parsed(reading) => self.reporter.report(reading, self.line, sink),
                LineEvent::OpensFence => self.fence_line = self.line,
                LineEvent::IgnoredSignal => self.ignored_signal_line = self.line,
            }
        }
        self.line += 1;
    }

    fn read_lines(&mut self, lines: &[u8], sink: &mut dyn FnMut(ParserEvent)) {
        let (mut line, mut counted) = (self.line, 0);
        let (fence_line, reporter) = (&mut self.fence_line, &mut self.reporter);
        let ignored_signal_line = &mut self.ignored_signal_line;
        scan(&self.rules, &mut self.fences, lines, &mut |hit| {
            line += count_line_feeds(&lines[counted..hit.at.start]);
            counted = hit.at.start;
            match hit.event {
                LineEvent::Parsed(reading) => reporter.report(reading, line, sink),
                LineEvent::OpensFence => *fence_line = line,
                LineEvent::IgnoredSignal => *ignored_signal_line = line,
            }
        });
        self.line = line + count_line_feeds(&lines[counted..]);
    }
}

fn count_line_feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Reports events up to the caps, and counts the rest.
#[derive(Debug, Default)]
struct CappedReporter {
    signals: usize,
    diagnostics: usize,
    signals_omitted: u64,
    diagnostics_omitted: u64,
    first_omitted_line: u64,
}

impl CappedReporter {
    fn report(&mut self, reading: ParsedLine, line: u64, sink: &mut dyn FnMut(ParserEvent)) {
        let (reported, reported_max, omitted) = match reading {
            ParsedLine::Signal(..) => (&mut self.signals, SIGNALS_MAX, &mut self.signals_omitted),
            ParsedLine::Invalid(_) => (
                &mut self.diagnostics,
                DIAGNOSTICS_MAX,
                &mut self.diagnostics_omitted,
            ),
        };
        if *reported == reported_max {
            if self.first_omitted_line == 0 {
                self.first_omitted_line = line;
            }
            *omitted += 1;
            return;
        }
        *reported += 1;
        sink(match reading {
            ParsedLine::Signal(verb, text) => ParserEvent::Signal(Signal { verb, text, line }),
            ParsedLine::Invalid(message) => ParserEvent::Diagnostic(Diagnostic { line, message }),
        });
    }

    fn report_unclosed_fence(
        &mut self,
        fence: Option<&CodeFence>,
        line: u64,
        sink: &mut dyn FnMut(ParserEvent),
    ) {
        if let Some(fence) = fence.filter(|fence| fence.ignored_signals > 0) {
            let message = format!(
                "the fence that begins here has no end: {} not counted",
                counted(
                    fence.ignored_signals,
                    "signal in it was",
                    "signals in it were"
                )
            );
            self.report(ParsedLine::Invalid(message), line, sink);
        }
    }

    fn report_unclosed_envelope(
        &mut self,
        fences: &EnclosingBlocks,
        line: u64,
        sink: &mut dyn FnMut(ParserEvent),
    ) {
        if let Some((tag, ignored_signals)) = fences.ignored_in_envelope() {
            let message = format!(
                "a `<{tag}>` has no end: {} not counted",
                counted(
                    ignored_signals,
                    "signal in it, up to here, was",
                    "signals in it, up to here, were"
                )
            );
            self.report(ParsedLine::Invalid(message), line, sink);
        }
    }

    fn report_omitted(self, sink: &mut dyn FnMut(ParserEvent)) {
        let line = self.first_omitted_line;
        let mut say = |message| sink(ParserEvent::Diagnostic(Diagnostic { line, message }));
        if self.signals_omitted > 0 {
            let count = self.signals_omitted;
            say(format!(
                "{} not counted: the first {SIGNALS_MAX} are",
                counted(count, "more signal was", "more signals were")
            ));
        }
        if self.diagnostics_omitted > 0 {
            let count = self.diagnostics_omitted;
            say(format!(
                "{} not be read as signals",
                counted(count, "more line could", "more lines could")
            ));
        }
    }
}

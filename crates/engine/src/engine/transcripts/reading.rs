//! Reading a transcript twice: what of it holds, then what it says; no longer than whoever asked has time.

use super::source::Source;
use super::state::State;
use super::taker::Taker;
use super::{Engine, TranscriptFate, TranscriptReport};
use crate::transcripts::{Agent, Head, HeadReader, Survey};
use heirloom_model::Fault;
use std::time::Instant;

/// Bytes of a file between two words on how far it is.
const TELL_EVERY: u64 = 1 << 20;
/// How much of the end of the last line tells whether a file is the one that it was, bytes.
pub(super) const END_BYTES: usize = 128;

/// How far reading is, and how long it may take.
pub(super) struct Pace<'p> {
    size: u64,
    told: u64,
    until: Option<Instant>,
    progress: &'p mut dyn FnMut(u64),
}

impl<'p> Pace<'p> {
    /// One that takes as long as it takes; `progress` hears how many more bytes are done.
    pub(super) fn endless(progress: &'p mut dyn FnMut(u64)) -> Self {
        Self {
            size: 0,
            told: 0,
            until: None,
            progress,
        }
    }

    /// The same, and it ends at this moment.
    pub(super) fn until(self, until: Instant) -> Self {
        Self {
            until: Some(until),
            ..self
        }
    }

    /// Whether it may end before its file.
    pub(super) fn is_timed(&self) -> bool {
        self.until.is_some()
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// A file of this size begins.
    pub(super) fn begin(&mut self, size: u64) {
        (self.size, self.told) = (size, 0);
    }

    /// So many bytes of the file are done.
    pub(super) fn tell(&mut self, done: u64) {
        let done = done.min(self.size);
        (self.progress)(done.saturating_sub(self.told));
        self.told = self.told.max(done);
    }
}

impl Engine {
    /// Reads a file and hands what it tells to `taker`.
    pub(super) fn read(
        &self,
        agent: Agent,
        source: &Source,
        mut state: State,
        taker: &mut Taker<'_, '_, '_>,
        pace: &mut Pace<'_>,
    ) -> Result<TranscriptReport, Fault> {
        let mut survey = Survey::new(agent);
        let mut goes_on = state.last.is_none();
        let mut is_over = false;
        if survey.is_needed() {
            source.each_line(0, &mut |line| {
                is_over = pace.is_over();
                if is_over {
                    return Ok(false);
                }
                if let Some(bytes) = line.bytes {
                    let is_last = state.last.as_ref();
                    goes_on = goes_on
                        || is_last.is_some_and(|(at, end)| *at == line.at && *end == end_of(bytes));
                    survey.line(line.at, bytes);
                }
                Ok(true)
            })?;
        }
        if !goes_on {
            // Another file took its place.
            state = State::default();
        }
        let mut report = TranscriptReport::of(TranscriptFate::Taken);
        if is_over {
            // What holds of a file that was not looked through is not known.
            report.is_unfinished = true;
            report.next_offset = state.offset;
            return Ok(report);
        }
        let from = state.offset;
        (report.next_offset, report.read_bytes) = (from, 0);
        taker.begin(state);
        let mut reader = survey.reader();
        let mut said = 0;
        let mut fault = None;
        source.each_line(from, &mut |line| {
            report.is_unfinished = pace.is_over();
            if report.is_unfinished {
                return Ok(false);
            }
            let mut take = |told| {
                if fault.is_none() {
                    fault = taker.take(told).err();
                }
            };
            match line.bytes {
                // A line without an end is read when it is whole, unless it is whole as it is.
                Some(bytes) if !line.is_whole && agent != Agent::Aider => {
                    report.is_cut = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err();
                    if report.is_cut {
                        return Ok(false);
                    }
                    reader.line(line.at, bytes, &mut take);
                }
                Some(bytes) => {
                    reader.line(line.at, bytes, &mut take);
                }
                None => report.long_lines += 1,
            }
            if let Some(fault) = fault.take() {
                return Err(fault);
            }
            let length =
                line.bytes.map_or(0, |bytes| bytes.len() as u64) + u64::from(line.is_whole);
            report.next_offset = line.at + length;
            if let Some(bytes) = line.bytes {
                taker.read_to(report.next_offset, line.at, bytes);
            }
            if report.next_offset - said > TELL_EVERY {
                said = report.next_offset;
                pace.tell(said);
            }
            Ok(true)
        })?;
        reader.finish(&mut |told| {
            if fault.is_none() {
                fault = taker.take(told).err();
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        taker.end(source.grows())?;
        report.read_bytes = report.next_offset - from;
        report.unreadable_lines = reader.unreadable();
        Ok(report)
    }
}

/// What the first lines of a file say.
pub(super) fn head_of(agent: Agent, source: &Source) -> Result<Option<Head>, Fault> {
    let mut reader = HeadReader::new(agent);
    source.each_line(0, &mut |line| {
        Ok(line.bytes.is_none_or(|bytes| reader.line(bytes)))
    })?;
    Ok(reader.finish())
}

/// What tells a line from another one at the same place.
pub(super) fn end_of(line: &[u8]) -> String {
    let from = line.len().saturating_sub(END_BYTES);
    heirloom_model::text::hash16(&String::from_utf8_lossy(&line[from..]))
}

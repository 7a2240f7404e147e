//! Two-pass reader of transcripts with a deadline: the first pass surveys, the second one parses.

use super::import_state::{State, end_of};
use super::importer::TranscriptImporter;
use super::learning_mode::LearningMode;
use super::transcript_input::Source;
use super::{TranscriptOutcome, TranscriptReport};
use crate::Transcripts;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    HeaderReader, SupersededLineScan, TranscriptEvent, TranscriptHeader, TranscriptReader,
};
use heirloom_model::Fault;
use std::time::Instant;

/// Bytes of a file between two calls of `progress`.
const PROGRESS_BYTES: u64 = 1 << 20;
/// Progress of reading, and its deadline.
pub(super) struct ReadDeadline<'p> {
    size: u64,
    reported: u64,
    until: Option<Instant>,
    mode: LearningMode,
    progress: &'p mut dyn FnMut(u64),
}

impl<'p> ReadDeadline<'p> {
    /// Creates one without a deadline; `progress` gets the number of further bytes that were read.
    pub(super) fn unlimited(progress: &'p mut dyn FnMut(u64)) -> Self {
        Self {
            size: 0,
            reported: 0,
            until: None,
            mode: LearningMode::Import,
            progress,
        }
    }

    /// Sets the deadline.
    pub(super) fn until(self, until: Instant) -> Self {
        Self {
            until: Some(until),
            ..self
        }
    }

    /// Sets the use of the extractor's state.
    pub(super) fn with_mode(self, mode: LearningMode) -> Self {
        Self { mode, ..self }
    }

    /// Returns the use of the extractor's state.
    pub(super) fn mode(&self) -> LearningMode {
        self.mode
    }

    /// Returns true if it has a deadline.
    pub(super) fn is_timed(&self) -> bool {
        self.until.is_some()
    }

    fn is_expired(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Starts a file of `size` bytes.
    pub(super) fn start(&mut self, size: u64) {
        (self.size, self.reported) = (size, 0);
    }

    /// Reports that `done` bytes of the file were read.
    pub(super) fn report(&mut self, done: u64) {
        let done = done.min(self.size);
        (self.progress)(done.saturating_sub(self.reported));
        self.reported = self.reported.max(done);
    }
}

impl Transcripts<'_> {
    /// Reads a file and passes its events to `taker`.
    pub(super) fn read(
        &self,
        agent: AgentProgram,
        source: &Source,
        mut state: State,
        importer_state: &mut TranscriptImporter<'_, '_, '_>,
        deadline: &mut ReadDeadline<'_>,
    ) -> Result<TranscriptReport, Fault> {
        let is_up_to_date = importer_state.continues_at(state.offset);
        let (survey, is_whole, goes_on, is_over) =
            survey(agent, source, &state, is_up_to_date, deadline)?;
        if !goes_on {
            // The file was replaced by another one.
            state = State::default();
        }
        let mut report = TranscriptReport::with_outcome(TranscriptOutcome::Imported);
        let imported_to = state.offset;
        report.next_offset = imported_to;
        if is_over {
            // Without a complete survey the file cannot be parsed.
            report.is_unfinished = true;
            return Ok(report);
        }
        importer_state.start(state);
        let mut reader = survey.into_reader();
        if let Some(learner) = importer_state.learner.as_mut().filter(|_| is_whole) {
            learner.check_superseded(&reader);
        }
        // The extractor may not have read as much as was imported.
        let from = importer_state.learning_start(imported_to, source.appended_size());
        let mut reported_offset = 0;
        let mut fault = None;
        let mut is_replay = from < imported_to;
        source.each_line(from, &mut |line| {
            report.is_unfinished = deadline.is_expired();
            if report.is_unfinished {
                return Ok(false);
            }
            if is_replay && line.at >= imported_to {
                is_replay = false;
                reader.finish(&mut |event| {
                    if fault.is_none() {
                        fault = importer_state.learn(&event).err();
                    }
                });
            }
            let mut take = |event| {
                if fault.is_none() {
                    fault = process_event(importer_state, event, is_replay).err();
                }
            };
            match line.bytes {
                // An incomplete last line is left for the next import, unless it is valid JSON.
                Some(bytes) if !line.is_whole && agent.appends_transcripts() => {
                    report.is_cut = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err();
                    if report.is_cut {
                        return Ok(false);
                    }
                    reader.read_line(line.at, bytes, &mut take);
                }
                Some(bytes) => drop(reader.read_line(line.at, bytes, &mut take)),
                None if is_replay => {}
                None => report.long_lines += 1,
            }
            if let Some(fault) = fault.take() {
                return Err(fault);
            }
            let length =
                line.bytes.map_or(0, |bytes| bytes.len() as u64) + u64::from(line.is_whole);
            let end = line.at + length;
            importer_state.learned_to(end);
            if is_replay {
                return Ok(true);
            }
            report.next_offset = end;
            if let Some(bytes) = line.bytes {
                importer_state.read_to(report.next_offset, line.at, bytes);
            }
            if report.next_offset - reported_offset > PROGRESS_BYTES {
                reported_offset = report.next_offset;
                deadline.report(reported_offset);
            }
            Ok(true)
        })?;
        reader.finish(&mut |event| {
            if fault.is_none() {
                fault = process_event(importer_state, event, is_replay).err();
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        count_superseded(importer_state, &reader, is_whole);
        importer_state.end(source.is_appendable(), !report.is_unfinished)?;
        report.read_bytes = report.next_offset - imported_to;
        report.unreadable_lines = reader.unreadable();
        report.lessons = std::mem::take(&mut importer_state.learned);
        Ok(report)
    }
}

/// Records how many superseded lines the extractor has read, after a survey of the whole file.
fn count_superseded(
    importer: &mut TranscriptImporter<'_, '_, '_>,
    reader: &TranscriptReader,
    is_whole: bool,
) {
    if let Some(learner) = importer.learner.as_mut().filter(|_| is_whole) {
        learner.count_superseded(reader);
    }
}

/// Passes an event to the extractor, and to the importer unless it was imported before.
fn process_event(
    importer: &mut TranscriptImporter<'_, '_, '_>,
    event: TranscriptEvent,
    is_replay: bool,
) -> Result<(), Fault> {
    importer.learn(&event)?;
    match is_replay {
        true => Ok(()),
        false => importer.take(event),
    }
}

/// Surveys the appended lines if they are all that is read and enough, otherwise the whole file. Returns the survey, true if
/// it is of the whole file, true if the file continues the one of `state`, and true if the deadline ended the survey.
fn survey(
    agent: AgentProgram,
    source: &Source,
    state: &State,
    is_up_to_date: bool,
    deadline: &ReadDeadline<'_>,
) -> Result<(SupersededLineScan, bool, bool, bool), Fault> {
    if is_up_to_date && let Some(survey) = survey_appended_lines(agent, source, state, deadline)? {
        return Ok((survey, false, true, false));
    }
    let mut survey = SupersededLineScan::new(agent);
    let (goes_on, is_over) = survey_lines(&mut survey, source, state, deadline)?;
    Ok((survey, true, goes_on, is_over))
}

/// Surveys only the lines that were appended since the last import, so that the end of a turn costs the same in a long
/// conversation. Returns `None` if the whole file has to be surveyed: it does not continue the one of `state`, an appended
/// line refers to earlier ones, or the deadline passed.
fn survey_appended_lines(
    agent: AgentProgram,
    source: &Source,
    state: &State,
    deadline: &ReadDeadline<'_>,
) -> Result<Option<SupersededLineScan>, Fault> {
    let mut survey = SupersededLineScan::new(agent);
    let Some((last_at, last_end)) = &state.last else {
        return Ok(None);
    };
    if !survey.is_needed() || !agent.appends_transcripts() || source.appended_size().is_none() {
        return Ok(None);
    }
    let mut goes_on = false;
    let mut is_over = false;
    source.each_line(*last_at, &mut |line| {
        is_over = deadline.is_expired();
        match line.bytes {
            Some(bytes) if line.at == *last_at => {
                goes_on = *last_end == end_of(bytes);
                survey.read_line_before(line.at, bytes);
            }
            Some(bytes) => survey.read_line(line.at, bytes),
            None => {}
        }
        Ok(goes_on && !is_over)
    })?;
    Ok((goes_on && !is_over && !survey.needs_earlier_lines()).then_some(survey))
}

/// Passes all lines to a survey. Returns true if the file continues the one of `state`, and true if the deadline ended the
/// survey.
fn survey_lines(
    survey: &mut SupersededLineScan,
    source: &Source,
    state: &State,
    deadline: &ReadDeadline<'_>,
) -> Result<(bool, bool), Fault> {
    let mut goes_on = state.last.is_none();
    let mut is_over = false;
    if survey.is_needed() {
        source.each_line(0, &mut |line| {
            is_over = deadline.is_expired();
            if is_over {
                return Ok(false);
            }
            if let Some(bytes) = line.bytes {
                let is_last = state.last.as_ref();
                goes_on = goes_on
                    || is_last.is_some_and(|(at, end)| *at == line.at && *end == end_of(bytes));
                survey.read_line(line.at, bytes);
            }
            Ok(true)
        })?;
    }
    Ok((goes_on, is_over))
}

/// Reads the head of a transcript from its first lines.
pub(super) fn head_of(
    agent: AgentProgram,
    source: &Source,
) -> Result<Option<TranscriptHeader>, Fault> {
    let mut reader = HeaderReader::new(agent);
    source
        .each_first_line(&mut |line| Ok(line.bytes.is_none_or(|bytes| reader.read_line(bytes))))?;
    Ok(reader.finish())
}

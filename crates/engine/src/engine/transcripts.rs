//! Conversations that agent programs have written down, taken in as one import.

mod belongs;
mod source;
mod state;
mod taker;
mod wrong;

use super::Engine;
use super::transfer::{ImportReport, Taking};
use crate::transcripts::{Agent, Head, HeadReader, Survey};
use belongs::Belongs;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Session};
use heirloom_store::StoreError;
use source::Source;
use state::State;
use std::path::{Path, PathBuf};
use taker::Taker;

/// Changes that are written in one step: turns are short, and there are many.
const PART: usize = 1_024;
/// Bytes of a file between two words on how far it is.
const TELL_EVERY: u64 = 1 << 20;
/// How much of the end of the last line tells whether a file is the one that it was, bytes.
const END_BYTES: usize = 128;

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TranscriptStart {
    /// Where it ended the last time, if what was taken in then is still here and the file still goes on from there.
    #[default]
    WhereItEnded,
    /// At the first byte; what is here already stays as it is.
    Beginning,
}

/// Which transcripts are the project's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Those that were recorded in its own folder.
    #[default]
    Here,
    /// Those that were recorded anywhere inside of it.
    Inside,
}

/// What became of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptFate {
    /// It was taken in, as far as it was not here.
    Taken,
    /// It was recorded in a folder inside of the project, which was not asked for.
    Inside,
    /// It was recorded elsewhere.
    Elsewhere(String),
    /// It does not say where it was recorded.
    Unknown,
    /// It is no transcript of this program, or has no words.
    NoTranscript,
}

/// What one transcript brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptReport {
    /// What became of it.
    pub fate: TranscriptFate,
    /// The session that it is here as.
    pub session: Option<String>,
    /// Where the next one begins that goes on from here.
    pub next_offset: u64,
    /// Bytes that were read, those that only had to be looked over aside.
    pub read_bytes: u64,
    /// Lines that were too long to be read.
    pub long_lines: u64,
    /// Lines that are none of this program's.
    pub unreadable_lines: u64,
    /// Whether its last line is half written: it is read when it is whole.
    pub is_cut: bool,
    /// What came of it; of several files that are one import only that of the whole says so.
    pub import: ImportReport,
}

/// Which transcripts are to be taken in.
#[derive(Debug, Clone)]
pub struct TranscriptsRequest {
    /// The program that wrote them.
    pub agent: Agent,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Which of them are this project's.
    pub reach: Reach,
    /// Those that were recorded in this folder are this project's too: it lay there.
    pub recorded_in: Option<PathBuf>,
    /// Whether a file is taken that does not say where it was recorded: somebody named it.
    pub named: bool,
    /// Only say what would come.
    pub dry: bool,
}

/// What several transcripts brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptsReport {
    /// All of it, as one import.
    pub whole: ImportReport,
    /// Files that are this project's.
    pub files: u64,
    /// Bytes of them that were read.
    pub read_bytes: u64,
    /// Files that were recorded in folders inside of the project and were left.
    pub inside: u64,
    /// Files that were recorded elsewhere and were left.
    pub elsewhere: u64,
    /// One of the folders in which these were recorded.
    pub elsewhere_in: Option<String>,
    /// Files that do not say where they were recorded and were left.
    pub unknown: u64,
    /// Files that are no transcripts of this program.
    pub no_transcripts: u64,
    /// Lines that were too long to be read.
    pub long_lines: u64,
    /// Lines that are none of this program's.
    pub unreadable_lines: u64,
}

impl Engine {
    /// Takes in what one transcript says, from where it was read to the last time: what is here already stays as it
    /// is. Durable when it returns, as one import, which `undo` takes back.
    ///
    /// One that was recorded outside of the project is left alone, and the report says so. Errors: `NotFound` and
    /// `Usage` for a path that is no file.
    pub fn import_transcript(
        &self,
        agent: Agent,
        path: &Path,
        from: TranscriptStart,
    ) -> Result<TranscriptReport, Fault> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let request = TranscriptsRequest {
            agent,
            files: Vec::new(),
            reach: Reach::Inside,
            recorded_in: None,
            named: true,
            dry: false,
        };
        let mut taking = self.taking(&request, &format!("{agent} {name}"))?;
        let source = Source::new(path)?;
        let taken = self.take_transcript(&request, &source, from, &mut taking, &mut |_| {});
        let mut report = taken.map_err(|fault| taking.abandon(fault))?;
        report.import = taking.end()?;
        Ok(report)
    }

    /// Takes in what these transcripts say, as one import; as for [`Self::import_transcript`]. `progress` hears how
    /// many more bytes of the files, packed as they are, are done.
    ///
    /// A file that cannot be read is told in a diagnostic. What was killed half way goes on where it was.
    pub fn import_transcripts(
        &self,
        request: &TranscriptsRequest,
        source: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TranscriptsReport, Fault> {
        let mut taking = self.taking(request, source)?;
        let mut whole = TranscriptsReport::default();
        for path in self.newest_first(request) {
            let source = match Source::new(&path) {
                Ok(source) => source,
                Err(fault) => {
                    taking.diagnose(format!("{}; skipped", fault.message));
                    continue;
                }
            };
            let from = TranscriptStart::WhereItEnded;
            let taken = self.take_transcript(request, &source, from, &mut taking, progress);
            whole.add(taken.map_err(|fault| taking.abandon(fault))?);
        }
        whole.whole = taking.end()?;
        Ok(whole)
    }

    fn taking(&self, request: &TranscriptsRequest, source: &str) -> Result<Taking<'_>, Fault> {
        let taking = Taking::new(self, source)?.in_a_session().in_parts_of(PART);
        Ok(match request.dry {
            true => taking.dry(),
            false => taking,
        })
    }

    /// The newest first: what was said last of a thing is what stays.
    fn newest_first(&self, request: &TranscriptsRequest) -> Vec<PathBuf> {
        let began = |path: &PathBuf| {
            let head = Source::new(path).and_then(|source| head_of(request.agent, &source));
            head.ok().flatten().and_then(|head| head.began)
        };
        let mut files: Vec<_> = (request.files.iter())
            .map(|path| (began(path), path.clone()))
            .collect();
        files.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        files.into_iter().map(|(_, path)| path).collect()
    }

    fn take_transcript(
        &self,
        request: &TranscriptsRequest,
        source: &Source,
        from: TranscriptStart,
        taking: &mut Taking<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TranscriptReport, Fault> {
        let mut told = 0;
        let mut tell = |done: u64| {
            let done = done.min(source.size());
            progress(done.saturating_sub(told));
            told = told.max(done);
        };
        let taken = self.take_source(request, source, from, taking, &mut tell);
        tell(source.size());
        taken
    }

    fn take_source(
        &self,
        request: &TranscriptsRequest,
        source: &Source,
        from: TranscriptStart,
        taking: &mut Taking<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TranscriptReport, Fault> {
        let agent = request.agent;
        let Some(head) = head_of(agent, source)? else {
            return Ok(TranscriptReport::of(TranscriptFate::NoTranscript));
        };
        let as_here = request.recorded_in.as_deref();
        let folder = match (
            self.belongs(agent, source.path(), &head, as_here),
            request.reach,
        ) {
            (Belongs::Here(folder), _) | (Belongs::Inside(folder), Reach::Inside) => folder,
            (Belongs::Inside(_), Reach::Here) => {
                return Ok(TranscriptReport::of(TranscriptFate::Inside));
            }
            (Belongs::Elsewhere(folder), _) => {
                return Ok(TranscriptReport::of(TranscriptFate::Elsewhere(folder)));
            }
            (Belongs::Unknown, _) if request.named => self.root.clone(),
            (Belongs::Unknown, _) => return Ok(TranscriptReport::of(TranscriptFate::Unknown)),
        };
        let Some(session) = self.session_name(&head) else {
            return Ok(TranscriptReport::of(TranscriptFate::NoTranscript));
        };
        let known = self.session_here(&session)?;
        let state = match (&known, from, source.grows() && agent != Agent::Aider) {
            (Some(known), TranscriptStart::WhereItEnded, true) => self.state_of(known)?,
            _ => State::default(),
        };
        let folders = (self.base_of(&folder, as_here), folder);
        let mut taker = Taker::new(self, agent, folders, &head, session, known, taking)?;
        let read = self.read(agent, source, state, &mut taker, progress)?;
        Ok(TranscriptReport {
            session: Some(taker.session_id().to_owned()),
            ..read
        })
    }

    /// Reads a file and hands what it tells to `taker`.
    fn read(
        &self,
        agent: Agent,
        source: &Source,
        mut state: State,
        taker: &mut Taker<'_, '_, '_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TranscriptReport, Fault> {
        let mut survey = Survey::new(agent);
        let mut goes_on = state.last.is_none();
        if survey.is_needed() {
            source.each_line(0, &mut |line| {
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
        let from = state.offset;
        (report.next_offset, report.read_bytes) = (from, 0);
        taker.begin(state);
        let mut reader = survey.reader();
        let mut said = 0;
        let mut fault = None;
        source.each_line(from, &mut |line| {
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
                progress(said);
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

    /// The name of the session that a transcript is here as; a subagent's is one of its own.
    fn session_name(&self, head: &Head) -> Option<String> {
        let session = head.session.as_ref()?;
        let name = match &head.agent {
            Some(agent) if agent != session => format!("{session}.agent-{agent}"),
            Some(_) | None => session.clone(),
        };
        let name = self.clean(name.trim()).into_owned();
        check_name("session", &name).is_ok().then_some(name)
    }

    fn session_here(&self, id: &str) -> Result<Option<Session>, Fault> {
        match self.store.session(&self.project, id) {
            Ok(session) => Ok(Some(session)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// How far a conversation was taken in: from its beginning if something of it is no longer here.
    fn state_of(&self, session: &Session) -> Result<State, Fault> {
        let state = State::of(session);
        let mut marks = state.marks.clone();
        marks.sort_unstable();
        marks.dedup();
        let here = self.store.turns(&self.project, &marks)?.len();
        Ok(match !marks.is_empty() && here == marks.len() {
            true => state,
            false => State::default(),
        })
    }
}

/// What the first lines of a file say.
fn head_of(agent: Agent, source: &Source) -> Result<Option<Head>, Fault> {
    let mut reader = HeadReader::new(agent);
    source.each_line(0, &mut |line| {
        Ok(line.bytes.is_none_or(|bytes| reader.line(bytes)))
    })?;
    Ok(reader.finish())
}

/// What tells a line from another one at the same place.
fn end_of(line: &[u8]) -> String {
    let from = line.len().saturating_sub(END_BYTES);
    heirloom_model::text::hash16(&String::from_utf8_lossy(&line[from..]))
}

impl TranscriptReport {
    fn of(fate: TranscriptFate) -> Self {
        Self {
            fate,
            session: None,
            next_offset: 0,
            read_bytes: 0,
            long_lines: 0,
            unreadable_lines: 0,
            is_cut: false,
            import: ImportReport::default(),
        }
    }
}

impl TranscriptsReport {
    fn add(&mut self, one: TranscriptReport) {
        match one.fate {
            TranscriptFate::Taken => self.files += 1,
            TranscriptFate::Inside => self.inside += 1,
            TranscriptFate::Elsewhere(folder) => {
                self.elsewhere += 1;
                self.elsewhere_in.get_or_insert(folder);
            }
            TranscriptFate::Unknown => self.unknown += 1,
            TranscriptFate::NoTranscript => self.no_transcripts += 1,
        }
        self.read_bytes += one.read_bytes;
        self.long_lines += one.long_lines;
        self.unreadable_lines += one.unreadable_lines;
    }
}

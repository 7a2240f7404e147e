//! Conversations that agent programs have written down, taken in as one import.

mod acting;
mod belongs;
mod reading;
mod source;
mod state;
mod taker;
mod wrong;

use super::Engine;
use super::transfer::{ImportReport, Taking};
use crate::transcripts::{Agent, Head};
use belongs::Belongs;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Session};
use heirloom_store::StoreError;
use reading::{Pace, head_of};
use source::Source;
use state::State;
use std::path::{Path, PathBuf};
use std::time::Instant;
use taker::Taker;
pub(in crate::engine) use taker::shortened_output;

/// Changes that are written in one step: turns are short, and there are many.
const PART: usize = 1_024;

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
    /// Whether the time was up before all of it was read: the next one goes on there.
    pub is_unfinished: bool,
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
        self.import_within(agent, path, from, &mut Pace::endless(&mut |_| {}))
    }

    /// The same from where it was read to the last time, and no longer than `until`: the next one goes on behind it.
    /// What failed in it and was not mended is open then, where its program has no event that says so.
    pub(super) fn archive_transcript(
        &self,
        agent: Agent,
        path: &Path,
        until: Instant,
    ) -> Result<TranscriptReport, Fault> {
        let mut nobody = |_| {};
        let mut pace = Pace::endless(&mut nobody).until(until);
        let from = TranscriptStart::WhereItEnded;
        self.import_within(agent, path, from, &mut pace)
    }

    fn import_within(
        &self,
        agent: Agent,
        path: &Path,
        from: TranscriptStart,
        pace: &mut Pace<'_>,
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
        let source = Source::new(path)?;
        let mut taking = self.taking(&request, &format!("{agent} {name}"))?;
        let taken = self.take_transcript(&request, &source, from, &mut taking, pace);
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
        let mut pace = Pace::endless(progress);
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
            let taken = self.take_transcript(request, &source, from, &mut taking, &mut pace);
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
        pace: &mut Pace<'_>,
    ) -> Result<TranscriptReport, Fault> {
        pace.begin(source.size());
        let taken = self.take_source(request, source, from, taking, pace);
        pace.tell(source.size());
        taken
    }

    fn take_source(
        &self,
        request: &TranscriptsRequest,
        source: &Source,
        from: TranscriptStart,
        taking: &mut Taking<'_>,
        pace: &mut Pace<'_>,
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
        taker.settles = pace.is_timed() && agent == Agent::Codex;
        let read = self.read(agent, source, state, &mut taker, pace)?;
        Ok(TranscriptReport {
            session: Some(taker.session_id().to_owned()),
            ..read
        })
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

    pub(super) fn session_here(&self, id: &str) -> Result<Option<Session>, Fault> {
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
            is_unfinished: false,
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

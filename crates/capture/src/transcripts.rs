//! Import of agent programs' transcripts.

mod attribution;
mod entry_ids;
mod failure_tracking;
mod import_report;
mod import_state;
mod importer;
mod learning;
mod learning_mode;
mod recorded_folder;
mod recorded_paths;
mod selection;
mod tool_calls;
mod transcript_input;
mod two_pass_reader;

use attribution::FormerRoots;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::TranscriptHeader;
use heirloom_engine::Engine;
use heirloom_engine::ImportWriter;
use heirloom_model::record::check_name;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Session};
pub use import_report::{TranscriptOutcome, TranscriptReport, TranscriptsReport};
use import_state::State;
use importer::TranscriptImporter;
pub(crate) use learning_mode::LearningMode;
pub use selection::ImportScope;
use std::path::{Path, PathBuf};
use std::time::Instant;
use transcript_input::Source;
use two_pass_reader::{ReadDeadline, head_of};

/// Changes in one transaction; large, because turns are short and numerous.
const PART: usize = 1_024;

/// Position at which reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TranscriptStart {
    /// The end of the last import, if its messages are still stored and the file was only extended.
    #[default]
    Continue,
    /// The first byte; stored entries stay unchanged.
    Beginning,
}

/// Parameters of an import of transcripts.
#[derive(Debug, Clone)]
pub struct TranscriptsRequest {
    /// Program that wrote them.
    pub agent: AgentProgram,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Selection by folder.
    pub scope: ImportScope,
    /// Additional folder whose transcripts count as the project's, such as its former location.
    pub former_root: Option<PathBuf>,
    /// Folders in which the project was seen, such as worktrees; those that no longer exist are its too.
    pub seen_roots: Vec<PathBuf>,
    /// Imports files that do not name their folder too, because the user named the files.
    pub is_explicit: bool,
    /// Dry run: only count.
    pub dry_run: bool,
}

/// Import of the transcripts that agent programs write.
#[derive(Clone, Copy)]
pub struct Transcripts<'e> {
    pub(crate) engine: &'e Engine,
}

impl<'e> Transcripts<'e> {
    /// Creates the service for an engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }
}

impl Transcripts<'_> {
    /// Imports one transcript from the end of its last import; stored entries stay unchanged. Durable when it
    /// returns, as one batch, which `undo` reverts.
    ///
    /// A transcript from outside of the project is skipped; the report has the outcome. Errors: `NotFound` and
    /// `Usage` for a path that is not a file.
    pub fn import(
        &self,
        agent: AgentProgram,
        path: &Path,
        from: TranscriptStart,
    ) -> Result<TranscriptReport, Fault> {
        self.import_within(agent, path, from, &mut ReadDeadline::unlimited(&mut |_| {}))
    }

    /// Imports a transcript until a deadline; the next import continues there. For programs without a failure event,
    /// unresolved failures at its end become open errors.
    pub(super) fn archive_transcript(
        &self,
        agent: AgentProgram,
        path: &Path,
        until: Instant,
        mode: LearningMode,
    ) -> Result<TranscriptReport, Fault> {
        let mut nobody = |_| {};
        let mut deadline = ReadDeadline::unlimited(&mut nobody)
            .until(until)
            .with_mode(mode);
        let from = TranscriptStart::Continue;
        self.import_within(agent, path, from, &mut deadline)
    }

    fn import_within(
        &self,
        agent: AgentProgram,
        path: &Path,
        from: TranscriptStart,
        deadline: &mut ReadDeadline<'_>,
    ) -> Result<TranscriptReport, Fault> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let request = TranscriptsRequest {
            agent,
            files: Vec::new(),
            scope: ImportScope::WithSubfolders,
            former_root: None,
            seen_roots: Vec::new(),
            is_explicit: true,
            dry_run: false,
        };
        let source = Source::new(path)?;
        let mut writer = self.writer(&request, &format!("{agent} {name}"))?;
        let result = self.add_transcript(&request, &source, from, &mut writer, deadline);
        let mut report = result.map_err(|fault| writer.abort(fault))?;
        report.import = writer.end()?;
        Ok(report)
    }

    /// Imports transcripts as one batch, as [`Self::import`] does. `progress` gets the number of file
    /// bytes, compressed ones as stored, that were processed since its last call.
    ///
    /// A file that cannot be read gets a diagnostic. An import that was killed continues at the last stored offset.
    pub fn import_all(
        &self,
        request: &TranscriptsRequest,
        source: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TranscriptsReport, Fault> {
        let mut writer = self.writer(request, source)?;
        let mut deadline = ReadDeadline::unlimited(progress);
        let mut whole = TranscriptsReport::default();
        for path in self.newest_first(request) {
            let source = match Source::new(&path) {
                Ok(source) => source,
                // In a folder, other files are still imported.
                Err(fault) if request.is_explicit => return Err(writer.abort(fault)),
                Err(fault) => {
                    writer.diagnose(format!("{}; skipped", fault.message));
                    continue;
                }
            };
            let from = TranscriptStart::Continue;
            let result = self.add_transcript(request, &source, from, &mut writer, &mut deadline);
            whole.add(result.map_err(|fault| writer.abort(fault))?);
            if source.is_beyond() {
                let (path, most) = (source.path().to_escaped(), source.max_bytes());
                writer.diagnose(format!(
                    "{path}: more than {most} bytes when unpacked; the rest is left out"
                ));
            }
        }
        whole.total = writer.end()?;
        Ok(whole)
    }

    fn writer(
        &self,
        request: &TranscriptsRequest,
        source: &str,
    ) -> Result<ImportWriter<'_>, Fault> {
        let writer = ImportWriter::new(self.engine, source)?
            .without_session_counts()
            .with_batch_size(PART);
        Ok(match request.dry_run {
            true => writer.into_dry_run(),
            false => writer,
        })
    }

    fn add_transcript(
        &self,
        request: &TranscriptsRequest,
        source: &Source,
        from: TranscriptStart,
        writer: &mut ImportWriter<'_>,
        deadline: &mut ReadDeadline<'_>,
    ) -> Result<TranscriptReport, Fault> {
        deadline.start(source.size());
        let result = self.add_source(request, source, from, writer, deadline);
        deadline.report(source.size());
        result
    }

    fn add_source(
        &self,
        request: &TranscriptsRequest,
        source: &Source,
        from: TranscriptStart,
        writer: &mut ImportWriter<'_>,
        deadline: &mut ReadDeadline<'_>,
    ) -> Result<TranscriptReport, Fault> {
        let agent = request.agent;
        let Some(head) = head_of(agent, source)? else {
            return Ok(TranscriptReport::with_outcome(
                TranscriptOutcome::NotATranscript,
            ));
        };
        let folder = match self.select_folder(request, source.path(), &head) {
            Ok(folder) => folder,
            Err(outcome) => return Ok(TranscriptReport::with_outcome(outcome)),
        };
        let Some(session) = self.session_name(&head) else {
            return Ok(TranscriptReport::with_outcome(
                TranscriptOutcome::NotATranscript,
            ));
        };
        let known = self.engine.sessions().find(&session)?;
        let (state, is_reverted) = match (
            &known,
            from,
            source.is_appendable() && agent.appends_transcripts(),
        ) {
            (Some(known), TranscriptStart::Continue, true) => self.state_of(known)?,
            _ => (State::default(), false),
        };
        let roots = FormerRoots::new(request.former_root.as_deref(), &request.seen_roots);
        let folders = (self.base_of(&folder, &roots), folder);
        let mut importer_state =
            TranscriptImporter::new(self.engine, agent, folders, &head, session, known, writer)?;
        importer_state.records_open_failures = deadline.is_timed() && !agent.reports_failures();
        importer_state.mode = deadline.mode();
        importer_state.is_conversation_reverted = is_reverted;
        importer_state.load_learner();
        let read = self.read(agent, source, state, &mut importer_state, deadline)?;
        Ok(TranscriptReport {
            session: Some(importer_state.session_id().to_owned()),
            ..read
        })
    }

    /// Returns the session name of a transcript. A subagent has a session of its own.
    fn session_name(&self, head: &TranscriptHeader) -> Option<String> {
        let session = head.session.as_ref()?;
        let name = match &head.agent {
            Some(agent) if agent != session => format!("{session}.agent-{agent}"),
            Some(_) | None => session.clone(),
        };
        let name = self
            .engine
            .redaction()
            .redact_input(name.trim())
            .into_owned();
        check_name("session", &name).is_ok().then_some(name)
    }

    /// Returns the stored import state, or the initial one if some of its messages are no longer stored. The second
    /// value is true in that case.
    fn state_of(&self, session: &Session) -> Result<(State, bool), Fault> {
        let state = State::from_session(session);
        let mut marks = state.marks.clone();
        marks.sort_unstable();
        marks.dedup();
        let stored_count = self.engine.sessions().count_messages(&marks)?;
        let is_whole = stored_count == marks.len();
        Ok(match !marks.is_empty() && is_whole {
            true => (state, false),
            false => (State::default(), !is_whole),
        })
    }
}

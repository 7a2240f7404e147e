//! Sessions of agent programs: start, end, outcome and transcript.

use super::session_state::HookSessionState;
use super::{HookRequest, valid_name};
use crate::Hooks;
use crate::Transcripts;
use crate::transcripts::LearningMode;
use heirloom_agents::hooks::HookEventKind;
use heirloom_agents::process::git_state;
use heirloom_engine::Engine;
use heirloom_engine::HOOKED;
use heirloom_engine::NewEpisode;
use heirloom_engine::TASK_MAIN;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::kinds::{EpisodeAction, ErrorRecord};
use heirloom_model::record::Attrs;
use heirloom_model::{ErrorKind, Fault, Kind, Scope, Session, limits, text};
use heirloom_store::Filter;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

impl Hooks<'_> {
    /// Writes the row of a session that starts or continues, with program, folder and branch. Called after the answer
    /// was printed, so that it adds no latency. Durable when it returns.
    ///
    /// Errors are the store's.
    pub fn record_hook_session(&self, request: &HookRequest<'_>) -> Result<(), Fault> {
        if !self.engine.settings().enabled || request.spec.kind != HookEventKind::SessionStart {
            return Ok(());
        }
        let Some((session, is_new)) = self.session_of_event(request)? else {
            return Ok(());
        };
        let mut now = session.clone();
        now.ended_at = None;
        if let Some(cwd) = request.event.cwd.as_deref() {
            let folder = text::excerpt(cwd, limits::PATH_BYTES_MAX);
            now.attrs.insert("cwd".to_owned(), json!(folder));
            if let Some(branch) = git_state::read_branch(Path::new(cwd)) {
                now.attrs.insert("branch".to_owned(), json!(branch));
            }
        }
        if is_new || now != session {
            self.engine.sessions().put_session(&now)?;
        }
        Ok(())
    }

    /// Returns the session of an event, stored or new, and true if it is new.
    fn session_of_event(
        &self,
        request: &HookRequest<'_>,
    ) -> Result<Option<(Session, bool)>, Fault> {
        let name = request
            .event
            .session
            .as_deref()
            .map(|id| self.engine.redaction().redact_input(id));
        let Some(id) = valid_name("session", name.as_deref()) else {
            return Ok(None);
        };
        if let Some(known) = self.engine.sessions().find(&id)? {
            return Ok(Some((known, false)));
        }
        let mut attrs = Attrs::new();
        attrs.insert(HOOKED.to_owned(), json!(true));
        let session = Session {
            project: self.engine.project().clone(),
            id,
            agent: Some(request.host.as_str().to_owned()),
            task: None,
            started_at: self.engine.now(),
            ended_at: None,
            attrs,
        };
        Ok(Some((session, true)))
    }

    /// Records the end of a session: its outcome, its end time, and its transcript as far as time permits.
    ///
    /// The transcript comes last, because the agent program may kill the hook.
    pub(super) fn record_session_end(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let subagents = state.subagents.clone();
        // A program without an event for failures: they are found in its transcript.
        let is_told_late = !request.host.reports_failures();
        if !is_told_late {
            self.log_session_episode(request, state)?;
        }
        if let Some((mut session, _)) = self.session_of_event(request)? {
            session.ended_at = Some(self.engine.now());
            self.engine.sessions().put_session(&session)?;
        }
        if let Some(path) = request.event.transcript.as_deref() {
            let session = self.import_session_transcript(request, path, LearningMode::SessionEnd);
            if is_told_late {
                self.count_failures(session.as_ref().ok().and_then(Option::as_deref), state)?;
                self.log_session_episode(request, state)?;
            }
            session?;
        } else if is_told_late {
            self.log_session_episode(request, state)?;
        }
        for (id, kind, path) in subagents {
            if Instant::now() >= request.deadline {
                break;
            }
            let mode = LearningMode::SessionEnd;
            if let Some(session) = self.import_session_transcript(request, &path, mode)? {
                self.name_subagent(&session, &id, kind.as_deref())?;
            }
        }
        Ok(())
    }

    /// Logs an episode for a session that changed files or had failures. The state is saved first: an episode may be
    /// lost, but is never logged twice.
    fn log_session_episode(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let Some(goal) = state.goal.clone().filter(|_| state.has_activity()) else {
            return Ok(());
        };
        if self.has_learned_episode(request)? {
            state.reset();
            return Ok(());
        }
        let reason = request.event.reason.as_deref().unwrap_or("other");
        let reason = text::excerpt(&self.engine.redaction().redact_input(reason), 60);
        let mut new = NewEpisode::new(TASK_MAIN, EpisodeAction::Attempted);
        new.scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        new.source = Some(request.host.as_str().to_owned());
        new.approach = Some(goal);
        new.outcome = Some(match reason.as_str() {
            "other" => state.summary(),
            reason => format!("{}; ended: {reason}", state.summary()),
        });
        let before = state.clone();
        state.reset();
        state.save();
        if let Err(fault) = self.engine.tasks().log_episode(new) {
            *state = before;
            state.save();
            return Err(fault);
        }
        Ok(())
    }

    /// Returns true if the session taught what became of its requests, which is more than an episode of counts.
    fn has_learned_episode(&self, request: &HookRequest<'_>) -> Result<bool, Fault> {
        let Some(session) = request.scope().session else {
            return Ok(false);
        };
        let learned = self.engine.sessions().lessons().of_session(&session)?;
        Ok(learned.iter().any(|record| record.kind == Kind::Episode))
    }

    /// Imports the new part of the conversation, and stores its lessons. A conversation that is too large for the end
    /// of a turn waits for the end of the session.
    pub(super) fn learn_from_turn(&self, request: &HookRequest<'_>) -> Result<(), Fault> {
        let event = request.event;
        let path = match request.spec.kind {
            HookEventKind::SubagentEnd => event.agent_transcript.as_deref(),
            HookEventKind::SessionStart
            | HookEventKind::Prompt
            | HookEventKind::BeforeTool
            | HookEventKind::AfterTool
            | HookEventKind::ToolFailed
            | HookEventKind::BeforeCompaction
            | HookEventKind::TurnEnd
            | HookEventKind::SubagentStart
            | HookEventKind::SessionEnd => event.transcript.as_deref(),
        };
        let Some(path) = path.filter(|_| self.engine.settings().learns) else {
            return Ok(());
        };
        let size = regular_file::open(Path::new(path), LinkPolicy::Follow);
        if size.map_or(true, |file| {
            file.size() > limits::LESSON_TURN_TRANSCRIPT_BYTES_MAX
        }) {
            return Ok(());
        }
        self.import_session_transcript(request, path, LearningMode::Live)?;
        Ok(())
    }

    /// Counts the failures of a session by the records from its transcript.
    pub(super) fn count_failures(
        &self,
        session: Option<&str>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let Some(session) = session else {
            return Ok(());
        };
        let mut filter = Filter::current(&[Kind::Error], self.engine.now());
        filter.scope.session = Some(session.to_owned());
        let found = self
            .engine
            .records()
            .find(&filter.limit(limits::HOOK_SESSION_ITEMS_MAX))?;
        let open = (found.iter())
            .filter(|record| record.state() == Some(ErrorRecord::OPEN))
            .filter_map(|record| record.key.clone());
        let failed = u32::try_from(found.len()).unwrap_or(u32::MAX);
        state.merge_transcript_failures(failed, open.collect());
        Ok(())
    }

    /// Imports the part of a transcript that was not imported yet; returns the name of its session.
    fn import_session_transcript(
        &self,
        request: &HookRequest<'_>,
        path: &str,
        mode: LearningMode,
    ) -> Result<Option<String>, Fault> {
        match Transcripts::new(self.engine).archive_transcript(
            request.host,
            Path::new(path),
            request.deadline,
            mode,
        ) {
            Ok(report) => Ok(report.session),
            // The transcript may be missing or not a file.
            Err(fault) if matches!(fault.kind, ErrorKind::NotFound | ErrorKind::Usage) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Adds the id and type of a subagent to its session.
    fn name_subagent(&self, session: &str, id: &str, kind: Option<&str>) -> Result<(), Fault> {
        let Some(session) = self.engine.sessions().find(session)? else {
            return Ok(());
        };
        let mut now = session.clone();
        now.attrs.insert("agent_id".to_owned(), json!(id));
        if let Some(kind) = kind {
            now.attrs.insert("agent_type".to_owned(), json!(kind));
        }
        if now != session {
            self.engine.sessions().put_session(&now)?;
        }
        Ok(())
    }
}

/// Computes sentence vectors of a session's texts in the time that is left until `deadline`. What remains waits for another
/// session, a server, or `heirloom reembed`.
pub(super) fn embed_session_texts(engine: &Engine, deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let most = left.min(Duration::from_millis(limits::SENTENCE_SESSION_MS));
    if !most.is_zero() {
        let texts = limits::SENTENCE_SESSION_TEXTS;
        // The texts are stored and found by words.
        drop(engine.maintenance().embed_sentences(texts, most));
    }
}

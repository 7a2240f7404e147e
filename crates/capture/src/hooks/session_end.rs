//! End of a session: its outcome as an episode, its end time, its transcript and its sentence vectors.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use crate::transcripts::LearningMode;
use heirloom_engine::{Engine, NewEpisode, TASK_MAIN};
use heirloom_model::kinds::{EpisodeAction, ErrorRecord};
use heirloom_model::{Fault, Kind, Scope, limits, text};
use heirloom_store::Filter;
use std::time::{Duration, Instant};

impl Hooks<'_> {
    /// Records the end of a session: its outcome, its end time, and its transcript as far as time permits.
    ///
    /// The transcript comes last, because the agent program may kill the hook.
    pub(super) fn record_session_end(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let subagents = state.subagents.clone();
        // Some programs name the transcript only at the end of a turn.
        let known = state.transcript.as_ref().map(|(path, _)| path.clone());
        let transcript = request.event.transcript.clone().or(known);
        // A program without an event for failures: they are found in its transcript.
        let is_told_late = !request.host.reports_failures();
        if !is_told_late {
            self.log_session_episode(request, state)?;
        }
        if let Some((mut session, _)) = self.session_of_event(request)? {
            session.ended_at = Some(self.engine.now());
            self.engine.sessions().put_session(&session)?;
        }
        if let Some(path) = transcript.as_deref() {
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

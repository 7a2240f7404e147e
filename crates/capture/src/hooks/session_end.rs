//! End of a session: its end time, its transcript with the cases in it, and its sentence vectors.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use crate::transcripts::LearningMode;
use heirloom_engine::{Engine, TASK_MAIN};
use heirloom_model::case::EDITED;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Case, Fault, Kind, Record, Scope, limits, text};
use heirloom_store::Filter;
use std::time::{Duration, Instant};

/// Greatest number of characters of the title of a case that hooks saw.
const CASE_TITLE_CHARS_MAX: usize = 120;

impl Hooks<'_> {
    /// Records the end of a session: its end time, and its transcript as far as time permits. A session without a
    /// readable transcript gets a case from what its hooks saw.
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
        if let Some((mut session, _)) = self.session_of_event(request)? {
            session.ended_at = Some(self.engine.now());
            self.engine.sessions().put_session(&session)?;
        }
        let mode = LearningMode::SessionEnd;
        let imported = match transcript.as_deref() {
            Some(path) => self.import_session_transcript(request, path, mode)?,
            None => None,
        };
        state.is_finished = true;
        match imported {
            Some(_) => state.reset(),
            None => self.log_observed_case(request, state)?,
        }
        for (id, kind, path) in subagents {
            if Instant::now() >= request.deadline {
                break;
            }
            if let Some(session) = self.import_session_transcript(request, &path, mode)? {
                self.name_subagent(&session, &id, kind.as_deref())?;
            }
        }
        Ok(())
    }

    /// Logs the case of a session whose hooks saw edits or failures: its first prompt, the files, and the newest failure.
    /// The state is saved first: a case may be lost, but is never logged twice.
    fn log_observed_case(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let goal = state.goal.clone().filter(|_| state.has_activity());
        let Some(goal) = goal else {
            state.reset();
            return Ok(());
        };
        let files = state.newest_files();
        let did = match files.is_empty() {
            true => String::new(),
            false => format!("{EDITED}{}", files.join(", ")),
        };
        let failure = self.session_failures(request.scope().session.as_deref())?;
        let case = Case {
            title: text::excerpt(&goal, CASE_TITLE_CHARS_MAX),
            asked: text::excerpt(&goal, limits::CASE_CHARS_MAX / 2),
            did,
            failed: failure
                .first()
                .map(|record| record_meaning(record).into_owned())
                .unwrap_or_default(),
            files,
            ..Case::default()
        };
        let scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        let before = state.clone();
        state.reset();
        state.save();
        let source = request.host.as_str();
        if let Err(fault) = self.engine.tasks().log_case(&case, scope, source) {
            *state = before;
            state.save();
            return Err(fault);
        }
        Ok(())
    }

    /// Returns the failures that a session recorded, the newest first.
    fn session_failures(&self, session: Option<&str>) -> Result<Vec<Record>, Fault> {
        let Some(session) = session else {
            return Ok(Vec::new());
        };
        let mut filter = Filter::current(&[Kind::Error], self.engine.now());
        filter.scope.session = Some(session.to_owned());
        let most = limits::HOOK_SESSION_ITEMS_MAX;
        self.engine.records().find(&filter.limit(most))
    }

    /// Counts the failures of a session by the records from its transcript.
    pub(super) fn count_failures(
        &self,
        session: Option<&str>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let found = self.session_failures(session)?;
        let open = (found.iter())
            .filter(|record| record.state() == Some(ErrorRecord::OPEN))
            .filter_map(|record| record.key.clone());
        let failed = u32::try_from(found.len()).unwrap_or(u32::MAX);
        state.merge_transcript_failures(failed, open.collect());
        Ok(())
    }
}

/// Computes sentence vectors of the newest texts in at most `most_ms` milliseconds of the time that is left until
/// `deadline`. What remains waits for another turn, a server, or `heirloom reembed`.
pub(super) fn embed_texts(engine: &Engine, deadline: Instant, most_ms: u64) {
    let left = deadline.saturating_duration_since(Instant::now());
    let most = left.min(Duration::from_millis(most_ms));
    if !most.is_zero() {
        let texts = limits::SENTENCE_SESSION_TEXTS;
        // The texts are stored and found by words.
        drop(engine.maintenance().embed_sentences(texts, most));
    }
}

//! Sessions without an end: the agent program was killed, or reports none.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use crate::transcripts::LearningMode;
use heirloom_model::Fault;
use std::time::Instant;

/// Imports the transcripts of sessions of this program that saw no end, the newest first, until the deadline. Those
/// that are left are read at a later start. Returns the names of the sessions.
pub(super) fn finish_sessions(
    hooks: &Hooks<'_>,
    request: &HookRequest<'_>,
) -> Result<Vec<String>, Fault> {
    let mut finished = Vec::new();
    let current = request.event.session.as_deref();
    let folder = hooks.engine.folder();
    for (mut state, _lock) in HookSessionState::unfinished(folder, request.host, current) {
        let Some((path, _)) = state.transcript.clone() else {
            continue;
        };
        let session = hooks.import_session_transcript(request, &path, LearningMode::Live)?;
        if Instant::now() >= request.deadline {
            break;
        }
        state.is_finished = true;
        state.save();
        finished.extend(session);
    }
    Ok(finished)
}

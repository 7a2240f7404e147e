//! Import of the transcript of a session while its hooks run.

use super::HookRequest;
use crate::Hooks;
use crate::Transcripts;
use crate::transcripts::LearningMode;
use heirloom_agents::hooks::HookEventKind;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::{ErrorKind, Fault, limits};
use serde_json::json;
use std::path::Path;

impl Hooks<'_> {
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

    /// Imports the part of a transcript that was not imported yet; returns the name of its session.
    pub(super) fn import_session_transcript(
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
    pub(super) fn name_subagent(
        &self,
        session: &str,
        id: &str,
        kind: Option<&str>,
    ) -> Result<(), Fault> {
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

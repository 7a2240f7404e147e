//! Sessions of agent programs: the stored row of a session, written at its start.

use super::prompt_rules::record_prompt_rules;
use super::unfinished_sessions::finish_sessions;
use super::{HookRequest, valid_name};
use crate::Hooks;
use heirloom_agents::hooks::HookEventKind;
use heirloom_agents::process::git_state;
use heirloom_engine::HOOKED;
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Session, limits, text};
use serde_json::json;
use std::path::Path;

impl Hooks<'_> {
    /// Does what an answer does not wait for: at a start the row of the session and the lessons of sessions without an
    /// end, at a prompt the rules in it. Called after the answer was printed, so that it adds no latency. Durable when it
    /// returns. Returns the names of the sessions whose lessons are complete now, the newest first.
    ///
    /// Errors are the store's.
    pub fn record_after_answer(&self, request: &HookRequest<'_>) -> Result<Vec<String>, Fault> {
        if !self.engine.settings().enabled {
            return Ok(Vec::new());
        }
        match request.spec.kind {
            HookEventKind::SessionStart => {
                record_session_start(self, request)?;
                finish_sessions(self, request)
            }
            HookEventKind::Prompt => record_prompt_rules(self, request).map(|()| Vec::new()),
            HookEventKind::SessionEnd => {
                let known = self.session_of_event(request)?;
                let stored = known.filter(|(_, is_new)| !is_new);
                Ok(stored.map(|(session, _)| session.id).into_iter().collect())
            }
            HookEventKind::BeforeTool
            | HookEventKind::AfterTool
            | HookEventKind::ToolFailed
            | HookEventKind::BeforeCompaction
            | HookEventKind::TurnEnd
            | HookEventKind::SubagentStart
            | HookEventKind::SubagentEnd => Ok(Vec::new()),
        }
    }

    /// Returns the session of an event, stored or new, and true if it is new.
    pub(super) fn session_of_event(
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
}

/// Writes the row of a session that starts or continues, with program, folder and branch.
fn record_session_start(hooks: &Hooks<'_>, request: &HookRequest<'_>) -> Result<(), Fault> {
    let Some((session, is_new)) = hooks.session_of_event(request)? else {
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
        hooks.engine.sessions().put_session(&now)?;
    }
    Ok(())
}

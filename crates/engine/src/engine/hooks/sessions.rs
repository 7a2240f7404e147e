//! Sessions of agent programs: when each began and ended, how it went, and what was said in it.

use super::state::State;
use super::{HookRequest, usable};
use crate::engine::Engine;
use crate::engine::episodes::NewEpisode;
use crate::engine::sessions::HOOKED;
use crate::engine::tasks::TASK_MAIN;
use crate::hooks::{Host, Moment};
use crate::run::git;
use crate::transcripts::Agent;
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::record::Attrs;
use heirloom_model::{ErrorKind, Fault, Scope, Session, limits, text};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

impl Engine {
    /// What is left to be done when the answer is out, so that nobody waits for it: a session that begins or goes on
    /// has a row, which says by which program, where, and on which branch. Durable when it returns.
    ///
    /// Errors are the store's.
    pub fn hook_answered(&self, request: &HookRequest<'_>) -> Result<(), Fault> {
        if !self.settings.enabled || request.wanted.moment != Moment::SessionStarts {
            return Ok(());
        }
        let Some((session, is_new)) = self.hooked_session(request)? else {
            return Ok(());
        };
        let mut now = session.clone();
        now.ended_at = None;
        if let Some(cwd) = request.event.cwd.as_deref() {
            let folder = text::excerpt(cwd, limits::PATH_BYTES_MAX);
            now.attrs.insert("cwd".to_owned(), json!(folder));
            if let Some(branch) = git::branch_in(Path::new(cwd)) {
                now.attrs.insert("branch".to_owned(), json!(branch));
            }
        }
        if is_new || now != session {
            self.put_session(&now)?;
        }
        Ok(())
    }

    /// The session of an event as it is here, or as it would be; whether it is not here.
    fn hooked_session(&self, request: &HookRequest<'_>) -> Result<Option<(Session, bool)>, Fault> {
        let name = request.event.session.as_deref().map(|id| self.clean(id));
        let Some(id) = usable("session", name.as_deref()) else {
            return Ok(None);
        };
        if let Some(known) = self.session_here(&id)? {
            return Ok(Some((known, false)));
        }
        let mut attrs = Attrs::new();
        attrs.insert(HOOKED.to_owned(), json!(true));
        let session = Session {
            project: self.project.clone(),
            id,
            agent: Some(request.host.as_str().to_owned()),
            task: None,
            started_at: self.now(),
            ended_at: None,
            attrs,
        };
        Ok(Some((session, true)))
    }

    /// A session ends: how it went, when, and what was said in it as far as there is time.
    ///
    /// What is said is read last: a program that waits for nobody may kill the hook in the middle of it.
    pub(super) fn session_ends(
        &self,
        request: &HookRequest<'_>,
        state: &mut State,
    ) -> Result<(), Fault> {
        let subagents = state.subagents.clone();
        self.keep_episode(request, state)?;
        if let Some((mut session, _)) = self.hooked_session(request)? {
            session.ended_at = Some(self.now());
            self.put_session(&session)?;
        }
        if let Some(path) = request.event.transcript.as_deref() {
            self.archive(request, path)?;
        }
        for (id, kind, path) in subagents {
            if Instant::now() >= request.until {
                break;
            }
            if let Some(session) = self.archive(request, &path)? {
                self.name_subagent(&session, &id, kind.as_deref())?;
            }
        }
        Ok(())
    }

    /// How a session went that changed something or failed at something. What is kept of it is written first: an
    /// episode may be lost, and is never told twice.
    fn keep_episode(&self, request: &HookRequest<'_>, state: &mut State) -> Result<(), Fault> {
        let Some(goal) = state.goal.clone().filter(|_| state.did_something()) else {
            return Ok(());
        };
        let reason = request.event.reason.as_deref().unwrap_or("other");
        let reason = text::excerpt(&self.clean(reason), 60);
        let mut new = NewEpisode::of(TASK_MAIN, EpisodeAction::Attempted);
        new.scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        new.source = Some(request.host.as_str().to_owned());
        new.approach = Some(goal);
        new.outcome = Some(format!("{}; ended: {reason}", state.summary()));
        let before = state.clone();
        state.ended();
        state.keep();
        if let Err(fault) = self.log_episode(new) {
            *state = before;
            state.keep();
            return Err(fault);
        }
        Ok(())
    }

    /// Takes in what was said in a conversation that was not taken in yet; the session that it is here as.
    fn archive(&self, request: &HookRequest<'_>, path: &str) -> Result<Option<String>, Fault> {
        let agent = match request.host {
            Host::ClaudeCode => Agent::Claude,
            Host::Codex => Agent::Codex,
            Host::Gemini => Agent::Gemini,
        };
        match self.archive_transcript(agent, Path::new(path), request.until) {
            Ok(report) => Ok(report.session),
            // There need not be one, and what is no file is none.
            Err(fault) if matches!(fault.kind, ErrorKind::NotFound | ErrorKind::Usage) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Says of a subagent's session which one it is, and of what sort.
    fn name_subagent(&self, session: &str, id: &str, kind: Option<&str>) -> Result<(), Fault> {
        let Some(session) = self.session_here(session)? else {
            return Ok(());
        };
        let mut now = session.clone();
        now.attrs.insert("agent_id".to_owned(), json!(id));
        if let Some(kind) = kind {
            now.attrs.insert("agent_type".to_owned(), json!(kind));
        }
        if now != session {
            self.put_session(&now)?;
        }
        Ok(())
    }
}

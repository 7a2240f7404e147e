//! Conversations of runs: who was told what in which iteration.

use super::Engine;
use heirloom_model::record::Attrs;
use heirloom_model::{Fault, Message, Role, Scope, Session, clock, text};
use serde_json::json;

impl Engine {
    /// A new session for `agent` on `task`, with its first iteration; not stored yet.
    pub(crate) fn new_session(
        &self,
        agent: Option<String>,
        task: Option<String>,
        iteration: u32,
    ) -> Session {
        let now = self.now();
        let mut attrs = Attrs::new();
        attrs.insert("iteration".to_owned(), json!(iteration));
        Session {
            project: self.project.clone(),
            id: self.ids.next(now).to_string(),
            agent,
            task,
            started_at: now,
            ended_at: None,
            attrs,
        }
    }

    /// Stores a session, or what is new of it.
    pub(crate) fn put_session(&self, session: &Session) -> Result<(), Fault> {
        self.writable()?;
        Ok(self.store.put_session(session)?)
    }

    /// The newest session, if there is one.
    pub fn latest_session(&self) -> Result<Option<Session>, Fault> {
        Ok(self.store.sessions(&self.project, None, 1)?.pop())
    }

    /// Says in the newest session, or in a first one, that it has reached the iteration of `scope`.
    pub(super) fn reach_iteration(&self, scope: &Scope) -> Result<(), Fault> {
        let session = match (self.latest_session()?, scope.iteration) {
            (Some(mut session), Some(iteration)) => {
                session
                    .attrs
                    .insert("iteration".to_owned(), json!(iteration));
                session
            }
            (Some(_), None) => return Ok(()),
            (None, iteration) => self.new_session(
                scope.agent.clone(),
                scope.task.clone(),
                iteration.unwrap_or(0),
            ),
        };
        self.put_session(&session)
    }

    /// Appends turns to a stored session.
    pub(crate) fn append_turns(
        &self,
        session: &Session,
        turns: &[(Role, &str)],
    ) -> Result<(), Fault> {
        self.writable()?;
        let now = self.now();
        let messages: Vec<_> = turns
            .iter()
            .filter(|(_, said)| !said.is_empty())
            .map(|(role, said)| Message {
                id: self.ids.next(now),
                seq: 0,
                role: *role,
                sender: None,
                text: (*said).to_owned(),
                attrs: Attrs::new(),
                tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
                at: now,
            })
            .collect();
        self.store
            .append_messages(&self.project, &session.id, &messages)?;
        Ok(())
    }
}

/// Takes over what stays from the session before, and begins behind it: it is the latest one even where a
/// clock went back.
pub(super) fn follow(session: &mut Session, before: &Session) {
    if let Some(repository) = before.attrs.get("repository") {
        session
            .attrs
            .insert("repository".to_owned(), repository.clone());
    }
    if session.started_at < before.started_at {
        let next = before.started_at.as_microsecond().saturating_add(1);
        session.started_at = clock::from_micros(next);
    }
}

/// The iteration that a session of a run has reached.
pub(crate) fn iteration_of(session: &Session) -> u32 {
    let iteration = session
        .attrs
        .get("iteration")
        .and_then(serde_json::Value::as_u64);
    iteration.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}
